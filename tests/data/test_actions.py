import numpy as np
import pytest

from countmorl.data.actions import action_bound, action_count, one_hot_actions
from countmorl.errors import DataError


def test_whole_numbers_without_bounds_are_discrete():
    assert action_count({"action": np.array([0, 2, 1])}) == 3
    assert action_count({"action": np.array([[0], [0]])}) == 2
    assert action_count({"action": np.array([0.0, 1.0])}) is None
    bounded = {"action": np.array([0, 2]), "action_low": np.array(0)}
    assert action_count(bounded) is None
    assert action_count({"action": np.array([0, 1]), "action_count": np.array(7)}) == 7
    with pytest.raises(DataError, match="whole numbers from -1 to 3"):
        action_count({"action": np.array([-1, 3])})
    with pytest.raises(DataError, match="one whole number from 2 to 256"):
        action_count({"action": np.array([0]), "action_count": np.array(1)})


def test_numbers_become_vectors_and_wrong_ones_are_named():
    np.testing.assert_array_equal(one_hot_actions(np.array([1, 0]), 2), [[0, 1], [1, 0]])
    with pytest.raises(DataError, match="row 1 holds 2"):
        one_hot_actions(np.array([1, 2]), 2)


def test_a_bound_is_one_number_or_one_per_column():
    action = np.zeros((4, 2))
    np.testing.assert_array_equal(action_bound(np.array(3.0), action), [3, 3])
    np.testing.assert_array_equal(action_bound(np.array([1, 2]), action), [1, 2])
    assert action_bound(np.array(np.inf), action) is None
    assert action_bound(None, action) is None
    with pytest.raises(DataError, match="hold 3 numbers, but an action has 2"):
        action_bound(np.zeros(3), action)
