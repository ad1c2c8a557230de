import numpy as np
import polars as pl
import pytest

from countmorl.data.tables import survey as module
from countmorl.data.tables.layout import lay_out
from countmorl.data.tables.request import Request
from countmorl.data.tables.scan import open_table
from countmorl.data.tables.survey import survey
from countmorl.errors import DataError

FRAME = pl.DataFrame(
    {
        "id": ["a", "a", "b", "b", "b"],
        "t": ["2024-01-01 10:00", "2024-01-01 11:00", "2024-01-02 00:00", None, "2024-01-03 00:00"],
        "x": [1.0, None, 3.0, float("nan"), 5.0],
        "w": ["u", "v", "u", None, "z"],
        "a": [1, 0, 1, 0, 1],
        "r": [1.0, 2.0, None, 4.0, 5.0],
        "d": [False, None, True, False, False],
    }
)


@pytest.fixture
def surveyed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 2)
    opened = []

    def run(source=FRAME, **how):
        asked = {"obs": ("x", "w", "t"), "action": ("a",), "reward": "r", "terminated": "d"}
        request = Request(**(asked | how))
        opened.append(survey(lay_out(open_table(source, request), request), tmp_path))
        return opened[-1]

    yield run
    for found in opened:
        found.close()


def test_everything_is_read_once(surveyed):
    found = surveyed(episode="id")
    raw = found.narrow.read(slice(0, 5))
    np.testing.assert_array_equal(raw[:, 0], np.array([1, np.nan, 3, np.nan, 5], np.float32))
    np.testing.assert_array_equal(raw[:, 1], np.array([0, 1, 0, np.nan, 2], np.float32))
    np.testing.assert_array_equal(raw[:, 2], np.array([0, 0, 0, np.nan, 0], np.float32))
    assert raw[:, 3].tolist() == [1, 0, 1, 0, 1]
    hours = np.diff(found.wide.read(slice(0, 3))[:, 0])
    np.testing.assert_allclose(hours, [1, 13], rtol=1e-9)
    assert [tally.missing for tally in found.tallies] == [2, 1, 1, 0]
    assert found.tallies[0].first_missing == 1
    np.testing.assert_array_equal(np.concatenate(found.rewards), [1, 2, np.nan, 4, 5])
    assert np.concatenate(found.flags["terminated"]).tolist() == [0, -1, 1, 0, 0]
    ids = np.concatenate(found.ids)
    assert (ids[0] == ids[1], ids[1] == ids[2], ids[2] == ids[4]) == (True, False, True)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"time": "t"}, "The time 't' is missing in row 4"),
        ({"episode": "w"}, "The episode 'w' is missing in row 4"),
        ({"terminated": "x * 2"}, "must be true or false, or 1 and 0, but is 2 in row 1"),
        ({"reward": "1 / 0 * cast(w as double)"}, "cannot be read"),
    ],
)
def test_what_every_row_needs(surveyed, how, words):
    with pytest.raises(DataError, match=words):
        surveyed(**how)


def test_blank_lines_are_no_rows(surveyed, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x,w,t,a,r,d\n1,u,0,1,1,0\n\n2,v,1,0,1,0\n\n")
    found = surveyed(path)
    assert np.concatenate(found.blank).tolist() == [1, 3]
    assert [tally.missing for tally in found.tallies] == [0, 0, 0, 0]
