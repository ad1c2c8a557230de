"""The schema: names of numbers, history, what is copied, and the way to a file and back."""

import numpy as np
import pytest

import countmorl
from countmorl.data.readers import WRITERS
from countmorl.errors import ConfigError, DataError
from countmorl.schema import Column, Schema, action_names, obs_names, schema_bytes, schema_of

DOSE = Column(name="dose", fill=0.5)


def test_names_of_numbers():
    kind = Column(name="ward", kind="category", values=("A", "B"), unknown="other")
    assert kind.numbers == ("ward=A", "ward=B", "ward=other")
    assert Column(name="t", kind="hour").numbers == ("t.hour.sin", "t.hour.cos")
    assert Column(name="lab", missing="median").numbers == ("lab", "lab.missing")


def test_history_copies_what_was_seen_and_done():
    schema = Schema(obs=(Column(name="x"), Column(name="y")), action=(DOSE,), history=3)
    assert schema.obs_names == (
        *("x", "y"),
        *("x@-1", "y@-1", "dose@-1"),
        *("x@-2", "y@-2", "dose@-2"),
    )
    pair = [*schema.obs_names, "dose"]
    following = [pair[at] if at >= 0 else "new" for at in schema.copied_from]
    assert following == ["new", "new", "x", "y", "dose", "x@-1", "y@-1", "dose@-1"]


def test_exogenous_numbers():
    sky = Column(name="sky", kind="category", values=("grey", "blue"))
    schema = Schema(obs=(Column(name="x"), sky), action=(DOSE,), exogenous=("sky",), history=2)
    assert schema.exogenous_numbers == (1, 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"obs": ()}, "at least one column"),
        ({"exogenous": ("rain",)}, "rain"),
        ({"history": 0}, "history"),
        ({"action": (Column(name="a", kind="category", values=("x",)), DOSE)}, "not both"),
        ({"action": (Column(name="when", kind="hour"),)}, "when"),
    ],
)
def test_wrong_schemas_are_refused(change, words):
    with pytest.raises(ConfigError, match=words):
        Schema(**{"obs": (Column(name="x"),), "action": (DOSE,)} | change)


def test_a_schema_travels_through_files(log, tmp_path):
    arrays = log(rows=30)
    sizes = [arrays[key].shape[1] for key in ("observations", "actions")]
    obs = tuple(Column(name=f"lab_{i}", unit="mg") for i in range(sizes[0]))
    action = tuple(Column(name=f"dose_{i}") for i in range(sizes[1]))
    schema = Schema(obs=obs, action=action, reward="reward")
    dataset = countmorl.load(arrays | {"schema": schema_bytes(schema)})
    assert dataset.schema == schema
    assert dataset.obs_names == tuple(column.name for column in obs)
    for ending, write in WRITERS.items():
        path = tmp_path / f"log{ending}"
        write(dataset, path)
        again = countmorl.load(path)
        assert again.schema == schema
        assert again.hash == dataset.hash
    assert countmorl.load(arrays).hash != dataset.hash


def test_a_schema_of_another_log_is_refused(log):
    schema = Schema(obs=(Column(name="alone"),), action=(DOSE,))
    with pytest.raises(DataError, match="different logs"):
        countmorl.load(log(rows=30) | {"schema": schema_bytes(schema)})


@pytest.mark.parametrize("text", [b"", b"{", b"[1]", b'{"obs": 1}', b"\xff"])
def test_a_damaged_schema_is_a_sentence(text):
    with pytest.raises(DataError, match="schema cannot be read"):
        schema_of(np.frombuffer(text, np.uint8))


def test_a_history_that_no_memory_holds_is_refused_at_once(log):
    schema = Schema(obs=(Column(name="x"),), action=(DOSE,), history=10**5)
    assert schema.sizes == (2 * 10**5 - 1, 1)
    with pytest.raises(DataError, match="different logs"):
        countmorl.load(log(rows=30) | {"schema": schema_bytes(schema)})


def test_a_history_of_more_numbers_than_any_log_has_is_refused():
    x = Column(name="x")
    Schema(obs=(x,), action=(DOSE,), history=1000)
    with pytest.raises(ConfigError, match="Choose a shorter one"):
        Schema(obs=(x,), action=(DOSE,), history=2**62)


def test_names_of_what_is_done():
    offer = Column(name="offer", kind="category", values=("mail", "call"))
    schema = Schema(obs=(Column(name="x"),), action=(offer,))
    assert schema.action_numbers == ("offer=mail", "offer=call")
    assert schema.action_names == ("mail", "call")
    assert action_names(None, 2) == ("action[0]", "action[1]")
    assert obs_names(schema, 1) == ("x",)
