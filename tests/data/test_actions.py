import numpy as np
import pytest

from countmorl.data.actions import (
    action_bound,
    one_hot_actions,
    one_hot_rows,
    stretched,
    understand,
)
from countmorl.data.sources import load
from countmorl.errors import DataError


def understood(action, wanted=None, **more):
    return understand({"action": np.asarray(action), **more}, wanted)


@pytest.mark.parametrize(
    ("action", "count", "note"),
    [
        ([0, 2, 1], 3, "one column of whole numbers from 0 to 2 without bounds: 3 discrete"),
        ([[0], [0]], 2, "2 discrete actions"),
        (list(range(5)) * 3, 5, "whole numbers from 0 to 4 without bounds: 5 discrete actions"),
        ([True, False], 2, "true and false: 2 discrete actions"),
        ([0.0, 1.0, 1.0], 2, "0.0 and 1.0: 2 discrete actions"),
        ([[1.0], [0.0]], 2, "0.0 and 1.0"),
        ([0, 1, 3], 4, "3 of those from 0 to 3: 4 discrete actions, some never taken"),
        ([0, 5, 10, 15], None, "4 of those from 0 to 15: taken as a quantity"),
        (list(range(250)), None, "whole numbers from 0 to 249: taken as a quantity"),
        ([-1, 3], None, "whole numbers from -1 to 3: taken as a quantity"),
        ([0.0, 0.0], None, "taken as a quantity"),
        ([0.0, 1.0, 2.0], None, "floats that are whole, 0 to 2: taken as a quantity"),
        ([0.0, 0.5, 1.0], None, "one column of numbers: a quantity"),
        ([-1.0, 1.0], None, "a quantity"),
        ([np.nan, 1.0], None, "a quantity"),
        ([[0, 1], [1, 0]], None, "vectors of numbers"),
    ],
)
def test_by_type_and_values(action, count, note):
    found = understood(action)
    assert found.count == count
    assert note in found.note


def test_where_values_do_not_tell_it_is_said_how_to_say():
    assert (
        understood([0.0, 1.0, 2.0]).doubt
        == "if they are numbers of choices, say --actions discrete"
    )
    assert "--actions continuous" in understood([0, 1, 3]).doubt
    assert "--actions discrete" in understood([0, 5, 10, 15]).doubt
    assert "--actions discrete" in understood(range(30)).doubt
    assert understood(range(250)).doubt == understood([0, 1, 2]).doubt == ""


def test_what_the_user_says_counts_most():
    assert understood([0, 1, 2], "continuous").count is None
    assert understood([0, 1], "continuous", action_count=np.array(2)).count is None
    assert understood([0.0, 2.0], "discrete").count == 3
    assert understood(range(250), "discrete").count == 250
    assert understood([0, 1], "discrete", action_low=np.array(0)).count == 2
    assert understood([[0, 1, 0], [1, 0, 0]], "discrete").count == 3


@pytest.mark.parametrize("action", [[0.5, 1], [-1, 1], [0, 300], [[0, 2], [1, 1]]])
def test_what_is_no_choice_is_refused_as_one(action):
    with pytest.raises(DataError, match=r"one column of whole numbers from 0.*numpy\.unique"):
        understood(action, "discrete")


def test_what_the_file_says_counts_before_the_values():
    assert understood([0, 2], action_low=np.array(0)).count is None
    assert understood([0, 1], action_count=np.array(7)).count == 7
    with pytest.raises(DataError, match="one whole number from 2 to 256"):
        understood([0], action_count=np.array(1))


def test_numbers_become_vectors_and_wrong_ones_are_named():
    np.testing.assert_array_equal(one_hot_actions(np.array([1, 0]), 2), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(one_hot_actions(np.eye(3), 3), np.eye(3))
    with pytest.raises(DataError, match="row 1 holds 2"):
        one_hot_actions(np.array([1, 2]), 2)


def test_one_hot_rows():
    assert one_hot_rows(np.eye(3))
    assert not one_hot_rows(np.ones((2, 2)))
    assert not one_hot_rows(np.array([[0.5, 0.5]]))


def test_a_bound_is_one_number_or_one_per_column():
    action = np.zeros((4, 2))
    np.testing.assert_array_equal(action_bound(np.array(3.0), action), [3, 3])
    np.testing.assert_array_equal(action_bound(np.array([1, 2]), action), [1, 2])
    assert action_bound(np.array(np.inf), action) is None
    assert action_bound(None, action) is None
    with pytest.raises(DataError, match="hold 3 numbers, but an action has 2"):
        action_bound(np.zeros(3), action)


class TestStretched:
    @pytest.fixture
    def action(self):
        return np.random.default_rng(0).uniform(-1, 1, (3000, 2)).astype(np.float32)

    def test_one_row_far_beyond_all_others(self, action):
        action[1234, 1] = 9999
        rows, columns = stretched(action)
        assert (rows.tolist(), columns.tolist()) == ([1234], [1])

    def test_one_row_of_a_hundred(self, action):
        action[50, 0] = -40
        assert stretched(action[:100])[0].tolist() == [50]
        assert not len(stretched(action[:99])[0])

    def test_what_many_rows_need_is_no_stretch(self, action):
        action[::100] = 50
        assert not len(stretched(action)[0])

    def test_noise_and_rare_interventions_are_no_stretch(self):
        rng = np.random.default_rng(0)
        assert not len(stretched(rng.standard_normal((100_000, 2)))[0])
        assert not len(stretched(np.exp(rng.standard_normal((100_000, 2))))[0])
        rare = np.zeros((5000, 1))
        rare[7] = 3
        assert not len(stretched(rare)[0])

    def test_loading_refuses_it_unless_bounds_are_given(self, action, log):
        arrays = log(rows=3000)
        arrays["actions"][1234, 1] = 9999
        with pytest.raises(DataError, match=r"1 rows.*row 1,234.*columns: 1.*action_low"):
            load(arrays)
        bounds = {"action_low": np.array(-1.0), "action_high": np.array(1.0)}
        with pytest.raises(DataError, match="outside their bounds"):
            load(arrays | bounds)
        arrays["actions"][1234, 1] = 0
        assert load(arrays | bounds).space.high.tolist() == [1, 1]
