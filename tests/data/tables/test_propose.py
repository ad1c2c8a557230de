import polars as pl
import pytest

from countmorl.data.tables.importing import complete, import_arrays
from countmorl.data.tables.propose import propose
from countmorl.data.tables.toml import write_request
from countmorl.errors import DataError

FRAME = pl.DataFrame(
    {
        "Patient": ["a", "a", "b", "b"],
        "visit": ["2024-01-01", "2024-01-02", "2024-01-01", "2024-01-05"],
        "t": [0, 1, 0, 1],
        "lab": [1.5, 2.5, None, 4.5],
        "ward": ["x", "y", "x", "x"],
        "site": ["s", "s", "s", "s"],
        "note": [None, None, None, None],
        "dose": [0.1, 0.2, 0.3, 0.4],
        "reward": [1, 0, 0, 1],
        "died": [False, False, False, True],
    }
)


def test_parts_are_guessed_by_names_and_values():
    found = propose(FRAME)
    request = found.request
    assert (request.episode, request.time, request.reward) == ("Patient", "t", "reward")
    assert (request.action, request.terminated) == (("dose",), "died")
    assert request.obs == ("visit", "lab", "ward")
    assert found.facts["lab"] == "numbers from 1.5 to 4.5; 1 of the first 4 are missing"
    assert found.facts["ward"] == "words: x, y"
    assert set(found.left_out) == {"site", "note"}
    assert "truncated" in found.notes
    assert found.as_dict()["schema"]["reward"] == "reward"


def test_a_column_of_dates_puts_rows_in_order_whatever_its_name():
    assert propose(FRAME.drop("t")).request.time == "visit"


def test_an_id_that_never_repeats_is_no_episode():
    frame = pl.DataFrame({"id": [1, 2, 3], "x": [1, 2, 3]})
    assert propose(frame).request.episode is None


def test_a_column_of_too_many_words_is_left_out():
    frame = pl.DataFrame({"name": [f"n{i}" for i in range(60)], "x": range(60)})
    assert "60 different words" in propose(frame).left_out["name"]


def test_what_is_proposed_can_be_imported(tmp_path):
    found = propose(FRAME)
    path = tmp_path / "schema.toml"
    path.write_text(write_request(found.request, facts=found.facts, notes=found.notes))
    request = complete({"missing": "lab=median"}, path)
    dataset, imported = import_arrays(FRAME, request, name="log")
    assert len(dataset) == 4
    assert imported.episodes == 2


def test_a_table_without_rows():
    with pytest.raises(DataError, match="no rows"):
        propose(pl.DataFrame({"x": []}))
