from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl import load
from countmorl.errors import ConfigError, DataError
from countmorl.spaces import MOST_ACTIONS, SLACK, ActionSpace, one_hot

gymnasium = pytest.importorskip("gymnasium")


def array(*values):
    return np.array(values, np.float32)


TORQUE = ActionSpace(low=array(0, -2), high=array(4, 2))
"""One number from 0 to 4, one from -2 to 2."""
UNIT = ActionSpace(low=array(-1), high=array(1))


class TestScaled:
    def test_bounds_become_minus_one_and_one_by_hand(self):
        actions = array([0, -2], [4, 2], [2, 0], [1, 1])
        wanted = [[-1, -1], [1, 1], [0, 0], [-0.5, 0.5]]
        assert TORQUE.scaled(actions).tolist() == wanted
        assert TORQUE.vectors(actions).tolist() == wanted
        assert TORQUE.vectors(actions).dtype == np.float32

    def test_what_has_the_bounds_already_is_left_as_it_is(self):
        actions = array([-1], [0.3], [1])
        assert UNIT.scaled(actions) is actions

    def test_rounding_beyond_a_bound_is_put_on_it(self):
        assert UNIT.vectors(array([1.0005], [-1.0005], [1.0019])).tolist() == [[1], [-1], [1]]
        assert TORQUE.vectors(array(4.001, -2.001)).tolist() == [1, -1]

    def test_what_lies_outside_stays_outside(self):
        """A count of it must not find what was logged at the bound."""
        assert UNIT.vectors(array([1.5], [-3])).tolist() == [[1.5], [-3]]
        assert TORQUE.vectors(array(6, 0)).tolist() == [2, 0]
        assert UNIT.vectors(array([1.5], [1.0005])).tolist() == [[1.5], [1]]

    def test_no_rows(self):
        assert UNIT.vectors(np.zeros((0, 1))).shape == (0, 1)

    def test_training_sees_the_same(self, log):
        arrays = log(action=1)
        arrays["actions"][:2, 0] = [1.0005, 0.5]
        bounds = {"action_low": array(-1), "action_high": array(1)}
        dataset = load(arrays | bounds)
        scaled = dataset.transitions("all").action
        assert scaled[:2, 0].tolist() == [1, 0.5]
        np.testing.assert_array_equal(scaled, dataset.space.vectors(dataset.action))

    @given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=2))
    def test_there_and_back(self, vector):
        vector = array(vector)
        action = TORQUE.actions(vector)
        assert (action >= TORQUE.low).all()
        assert (action <= TORQUE.high).all()
        np.testing.assert_allclose(TORQUE.vectors(action), vector, atol=1e-6)


class TestOutside:
    def test_rows_beyond_what_rounding_explains(self):
        """A thousandth of the range: 0.004 of 4."""
        assert TORQUE.slack.tolist() == [pytest.approx(0.004)] * 2
        assert pytest.approx(1e-3) == SLACK
        rows = array([4.003, 0], [4.005, 0], [-0.005, 0], [2, -2.003], [2, 2.01])
        assert TORQUE.outside(rows).tolist() == [False, True, True, False, True]

    def test_one_row(self):
        assert UNIT.outside(array(1.5))
        assert not UNIT.outside(array(1.0))


class TestActions:
    def test_vectors_become_actions_by_hand(self):
        vectors = array([-1, -1], [1, 1], [0, 0], [-0.5, 0.5])
        assert TORQUE.actions(vectors).tolist() == [[0, -2], [4, 2], [2, 0], [1, 1]]

    def test_no_vector_gives_an_action_beyond_its_bounds(self):
        assert TORQUE.actions(array(7, -7)).tolist() == [4, -2]

    def test_numbers_are_where_the_one_is(self):
        assert ActionSpace.numbered(3).actions(array([0, 0, 1], [1, 0, 0])).tolist() == [2, 0]


class TestNumbered:
    space = ActionSpace.numbered(3)

    def test_numbers_become_one_hot_vectors(self):
        wanted = [[1, 0, 0], [0, 0, 1]]
        for numbers in ([0, 2], [[0], [2]], [0.0, 2.0]):
            assert self.space.vectors(np.array(numbers)).tolist() == wanted
        assert one_hot(np.array([0, 2]), 3).tolist() == wanted

    def test_one_hot_vectors_are_taken_as_they_are(self):
        vectors = np.eye(3)[[1, 0]]
        assert self.space.vectors(vectors).tolist() == vectors.tolist()
        assert self.space.vectors(vectors).dtype == np.float32

    def test_one_number(self):
        assert self.space.vectors(np.array(1)).tolist() == [[0, 1, 0]]

    @pytest.mark.parametrize("number", [-1, 3, 0.5, np.nan])
    def test_another_number_is_refused(self, number):
        with pytest.raises(DataError, match=f"numbers from 0 to 2, got {number:g}"):
            self.space.vectors(np.array([0, number]))

    def test_what_a_file_says_of_them(self):
        assert self.space.fields == {"action_count": 3}
        assert (self.space.size, self.space.discrete, self.space.bounded) == (3, True, True)
        assert self.space.empty(4).shape == (4,)
        assert self.space.empty(4).dtype == np.int64


class TestVectors:
    def test_what_a_file_says_of_them(self):
        assert {k: v.tolist() for k, v in TORQUE.fields.items()} == {
            "action_low": [0, -2],
            "action_high": [4, 2],
        }
        assert (TORQUE.size, TORQUE.discrete, TORQUE.bounded) == (2, False, True)
        assert TORQUE.empty(4).shape == (4, 2)

    @pytest.mark.parametrize("high", [np.inf, np.nan])
    def test_bounds_that_are_none(self, high):
        assert not ActionSpace(low=array(0), high=array(high)).bounded


def test_actions_are_drawn_evenly():
    rng = np.random.default_rng(0)
    drawn = np.array([TORQUE.draw(rng) for _ in range(2000)])
    assert ((drawn >= TORQUE.low) & (drawn <= TORQUE.high)).all()
    np.testing.assert_allclose(drawn.mean(axis=0), [2, 0], atol=0.1)
    numbers = [ActionSpace.numbered(3).draw(rng) for _ in range(300)]
    assert set(numbers) == {0, 1, 2}
    assert isinstance(numbers[0], int)


class TestOfAnEnvironment:
    def of(self, space):
        return ActionSpace.of(
            SimpleNamespace(action_space=space, spec=SimpleNamespace(id="Own-v0"))
        )

    def test_vectors(self):
        space = self.of(gymnasium.spaces.Box(array(0, -2), array(4, 2)))
        assert (space.low.tolist(), space.high.tolist()) == ([0, -2], [4, 2])

    def test_numbers(self):
        assert self.of(gymnasium.spaces.Discrete(MOST_ACTIONS)).size == MOST_ACTIONS

    @pytest.mark.parametrize(
        "space",
        [
            gymnasium.spaces.Discrete(1),
            gymnasium.spaces.Discrete(MOST_ACTIONS + 1),
            gymnasium.spaces.Discrete(3, start=1),
            gymnasium.spaces.Box(-1, 1, (2, 2)),
            gymnasium.spaces.MultiDiscrete([2, 2]),
        ],
        ids=str,
    )
    def test_others_are_refused_in_a_sentence(self, space):
        with pytest.raises(ConfigError, match=r"'Own-v0' has actions .* counted from 0"):
            self.of(space)
