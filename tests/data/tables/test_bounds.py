import numpy as np
import pytest

from countmorl.data.tables.bounds import bounds_of, given_bounds
from countmorl.errors import ConfigError, DataError


def found(values, low=None, high=None):
    where = lambda row: f"row {row + 1}"  # noqa: E731
    return bounds_of("dose", np.array(values, np.float32), (low, high), where)


def test_bounds_of_the_data_and_what_lies_on_them():
    bounds, findings = found([0, 0, 1, 4])
    assert (bounds.low, bounds.high, bounds.given) == (0, 4, False)
    assert (bounds.on_low, bounds.on_high, findings) == (0.5, 0.25, [])


def test_given_bounds():
    bounds, _ = found([0, 1], -1.0, 2.0)
    assert (bounds.low, bounds.high, bounds.given, bounds.on_low) == (-1, 2, True, 0)
    assert found([0, 1], low=-1.0)[0].high == 1
    with pytest.raises(DataError, match=r"is 5 in row 2, outside its bounds 0 and 1 .1 rows"):
        found([0, 5, 1], 0.0, 1.0)
    with pytest.raises(ConfigError, match="empty"):
        found([0, 1], 3.0, 1.0)


def test_a_constant_action_is_a_finding():
    bounds, (finding,) = found([2, 2])
    assert (bounds.low, bounds.high, finding.kind) == (2, 3, "constant")


def test_one_wild_action_does_not_set_the_bounds():
    values = np.random.default_rng(0).uniform(-1, 1, 5000)
    found(values)
    values[3000] = 9999
    with pytest.raises(DataError, match=r"9999 in row 3001.*--action-low"):
        found(values)
    assert found(values, -1.0, 9999.0)[0].high == 9999


def test_an_action_that_is_nearly_always_zero_is_no_mistake():
    values = np.zeros(5000)
    values[7] = 3
    assert found(values)[0].high == 3


def test_one_bound_for_all_or_one_for_each():
    assert given_bounds((), (1.0,), 2) == [(None, 1.0), (None, 1.0)]
    assert given_bounds((0.0, 1.0), (5.0, 6.0), 2) == [(0.0, 5.0), (1.0, 6.0)]
    with pytest.raises(ConfigError, match="`action_low` wants one number, or 3"):
        given_bounds((0.0, 1.0), (), 3)
