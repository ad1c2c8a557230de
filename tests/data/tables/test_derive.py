import numpy as np
import pytest

from countmorl.data.tables import derive as module
from countmorl.data.tables.derive import derive

LOG = {
    "id": ["a", "b", "a", "b", "a"],
    "x": [1.0, 10.0, 3.0, 40.0, 7.0],
    "a": [0.0, 0.0, 1.0, 1.0, 0.0],
    "r": [0.0, 0.0, 0.0, 0.0, 0.0],
}


@pytest.mark.parametrize("chunk", [1, 2, 100])
def test_rows_around_are_those_of_the_episode(read, monkeypatch, chunk):
    monkeypatch.setattr(module, "CHUNK", chunk)
    found, order, reward, flags, _ = read(
        LOG,
        obs=["x", "rise = x - lag(x)"],
        action=["step = lead(x) - x"],
        reward="x + coalesce(lag(x, 2), 0)",
        terminated="lead(x) is null",
    )
    derive(found, order, reward, flags)
    rise, step = (found.narrow.column(place) for place in (1, 2))
    np.testing.assert_array_equal(rise, np.array([np.nan, np.nan, 2, 30, 4], np.float32))
    np.testing.assert_array_equal(step, np.array([2, 30, 4, np.nan, np.nan], np.float32))
    assert reward.tolist() == [1, 10, 3, 40, 8]
    assert flags["terminated"].tolist() == [0, 0, 0, 1, 1]
    assert (found.tallies[1].missing, found.tallies[1].first_missing) == (2, 0)
    assert (found.tallies[2].missing, found.tallies[2].first_missing) == (2, 3)
    assert (found.tallies[1].low, found.tallies[1].high) == (2, 30)


def test_nothing_to_do(read):
    found, order, reward, flags, _ = read(LOG)
    derive(found, order, reward, flags)
    assert found.narrow.column(0).tolist() == LOG["x"]
