import numpy as np
import pytest

from countmorl.data.tables.missing import (
    carried,
    dropped_rows,
    fill_reward,
    filler,
    refuse_infinite,
    refuse_missing,
    refuse_start,
)
from countmorl.errors import DataError
from countmorl.schema import Column

LOG = {
    "id": [1, 1, 1, 2, 2],
    "x": [1.0, None, 3.0, 4.0, None],
    "w": ["u", None, "u", "v", "v"],
    "a": [0.0, 1.0, None, 1.0, 0.0],
    "r": [1.0, None, 3.0, 4.0, 5.0],
    "d": [False, False, True, None, False],
}


def test_all_that_is_missing_is_said_at_once(read):
    found, _, reward, flags, _ = read(LOG, obs=["x", "w"], terminated="d")
    with pytest.raises(DataError) as caught:
        refuse_missing(found, reward, flags)
    message = str(caught.value)
    assert "'x' in 2 of 5 rows, first in row 2; 'w' in 1 of 5 rows, first in row 2" in message
    assert "'a' in 1 of 5 rows, first in row 3; 'r' in 1 of 5 rows, first in row 2" in message
    assert "'d' in 1 of 5 rows, first in row 4" in message
    assert "--missing x=carry (the last one before), x=median, x=drop (the row), x=0" in message


@pytest.mark.parametrize(
    ("obs", "missing", "way"),
    [
        (["w"], ["a=0", "r=0"], "w=WORD"),
        (["x"], ["x=0", "a=0", "r=0"], "--missing d=false."),
        (["x"], ["x=0", "r=0"], "a=drop (the row), a=0 (a value)."),
    ],
)
def test_the_advice_fits_the_column(read, obs, missing, way):
    found, _, reward, flags, _ = read(LOG, obs=obs, terminated="d", missing=missing)
    with pytest.raises(DataError) as caught:
        refuse_missing(found, reward, flags)
    assert way in str(caught.value)


def test_nothing_is_carried_across_an_episodes_start():
    values = np.array([np.nan, 1, np.nan, np.nan, 5], np.float32)
    starts = np.array([False, False, False, True, False])
    filled, last = carried(values, starts, 9.0)
    np.testing.assert_array_equal(filled, np.array([9, 1, 1, np.nan, 5], np.float32))
    assert last == 5


def test_rows_that_are_dropped(read):
    found, _, reward, _, _ = read(LOG, missing=["x=drop", "a=drop", "r=0"])
    assert dropped_rows(found, reward).tolist() == [False, True, True, False, True]
    found, _, reward, _, _ = read(LOG, missing=["x=0", "a=0", "reward=drop"])
    assert dropped_rows(found, reward).tolist() == [False, True, False, False, False]
    found, _, reward, _, _ = read(LOG, missing=["0"])
    assert dropped_rows(found, reward) is None


def test_rewards_are_filled(read):
    for rule, wanted in (("0", 0), ("carry", 1), ("-1.5", -1.5)):
        found, order, reward, _, _ = read(LOG, missing=[f"reward={rule}"])
        assert fill_reward(found, reward, order).tolist() == [1, wanted, 3, 4, 5]
    late = LOG | {"r": [1.0, 2.0, 3.0, None, 5.0]}
    found, order, reward, _, _ = read(late, missing=["r=carry"])
    with pytest.raises(DataError, match=r"no value to carry forward: row 4\."):
        fill_reward(found, reward, order)


def test_infinite_rewards_are_refused(read):
    found, _, reward, _, _ = read(LOG, reward="1 / (coalesce(r, 1) - 3)")
    with pytest.raises(DataError, match=r"The reward is inf in row 3 \(1 rows"):
        refuse_infinite(found, reward)


def test_small_helpers(read):
    assert filler(Column(name="x", missing="value", fill=2.5)) == 2.5
    found = read(LOG)[0]
    refuse_start(found, np.zeros(3, bool), None, "x")
    with pytest.raises(DataError, match="row 5"):
        refuse_start(found, np.array([False, True]), np.array([0, 1, 2, 3, 4]), "x", 3)
