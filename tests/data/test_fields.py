from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.data.fields import Fields, not_finite
from countmorl.envs.tasks import TASKS
from countmorl.errors import DataError


def bounds(fields):
    space = fields.action_space()
    return space.low, space.high


def make(**changes):
    arrays = {
        "obs": np.arange(8, dtype=np.float32).reshape(4, 2),
        "action": np.zeros((4, 1), np.float32),
        "reward": np.zeros(4, np.float32),
    }
    arrays = {k: v for k, v in (arrays | changes).items() if v is not None}
    return Fields.of(arrays, name="log")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"obs": None}, "no `obs`.*Wanted arrays named observations"),
        ({"obs": None, "reward": None}, "no `obs` and no `reward`"),
        ({"obs": np.zeros((0, 2)), "action": np.zeros((0, 1))}, "no rows"),
        ({"obs": np.zeros((4, 2, 2))}, r"`obs` has shape \[4, 2, 2\], wanted \[rows, columns\]"),
        ({"obs": np.zeros((4, 0))}, r"`obs` has shape \[4, 0\]"),
        ({"obs": np.array(1, np.float32)}, "`action` has 4 rows but `obs` has 1"),
        ({"obs": np.array([["a"]] * 4)}, "`obs` holds values of type <U1, wanted real numbers"),
        ({"obs": np.zeros((4, 2), complex)}, "complex128, wanted real numbers"),
        ({"action": np.zeros((3, 1))}, "`action` has 3 rows but `obs` has 4"),
        ({"reward": np.zeros(5)}, "`reward` has 5 rows but `obs` has 4"),
        ({"reward": np.zeros((4, 2))}, r"`reward` has shape \[4, 2\], wanted one value per row"),
        ({"next_obs": np.zeros((3, 2))}, "`next_obs` has 3 rows.*drop the last step"),
        ({"next_obs": np.zeros((4, 3))}, "`next_obs` has 3 columns but `obs` has 2"),
        ({"terminated": np.zeros(3, bool)}, "`terminated` has 3 rows"),
        ({"terminated": np.array([0, 1, 2, 0])}, "`terminated` must hold only true and false"),
        ({"truncated": np.array([0, np.nan, 0, 0])}, "`truncated` must hold only"),
        ({"truncated": np.array(["no"] * 4)}, "`truncated` must hold only"),
        ({"episode_ends": np.array([4])}, "`episode_ends` must be row numbers"),
        ({"episode_ends": np.array([-1])}, "`episode_ends` must be row numbers"),
        ({"episode_ends": np.array([0.5])}, "`episode_ends` must be row numbers"),
        ({"episode_ends": np.array([], int)}, "`episode_ends` must be row numbers"),
    ],
)
def test_what_does_not_fit_is_named(changes, words):
    with pytest.raises(DataError, match=words):
        make(**changes)


def test_bounds_of_another_size_are_named():
    with pytest.raises(DataError, match="action"):
        make(action_low=np.full(3, -1.0), action_high=np.ones(3))


def test_one_column_may_be_flat():
    fields = make(obs=np.arange(4), action=np.zeros(4))
    assert fields.obs.shape == (4, 1)
    assert fields.action.shape == (4, 1)


def test_missing_flags_are_false_and_the_end_is_an_end():
    fields = make()
    assert not fields.terminated.any()
    assert not fields.truncated.any()
    assert fields.episode_ends.tolist() == [3]


def test_numbers_too_large_for_float32_are_called_so():
    obs = np.zeros((4, 2))
    obs[2, 1] = 1e300
    with pytest.raises(
        DataError, match=r"`obs` of 'log' holds numbers too large.*row 2.*columns: 1"
    ):
        make(obs=obs).check_kept()


def test_what_next_observations_lose_is_said_once():
    obs = 1e12 + np.arange(8.0).reshape(4, 2)
    assert [loss.key for loss in make(obs=obs, next_obs=obs + 1).lost] == ["obs"]


def test_how_actions_were_understood():
    fields = make(action=np.array([[0.0], [5.0], [2.5], [0.0]]))
    said = fields.describe_actions(fields.action_space())
    assert (
        said
        == "one column of numbers: a quantity; bounds from the data; 75.0% of the rows lie on one"
    )
    fields = replace(make(action=np.array([0.1, 0.2, 0.3, 1.0])), task=TASKS["hopper"])
    assert "the task's bounds of -1 and 1" in fields.describe_actions(fields.action_space())
    fields = make(action=np.array([0, 1, 2, 1]))
    assert fields.describe_actions(fields.action_space()).endswith(": 3 discrete actions")


def test_columns_have_names_where_the_log_gives_them():
    assert make().column_names("obs", (1,)) == "1"
    assert make(obs=np.zeros((4, 12))).column_names("obs", tuple(range(12))).endswith("7, ...")
    assert make().column_names("reward", (0,)) == "its one column"


@pytest.mark.parametrize("key", ["obs", "action", "reward", "next_obs"])
def test_not_finite_numbers_are_named_by_field_and_first_row(key):
    shape = {"obs": (4, 2), "action": (4, 1), "reward": (4,), "next_obs": (4, 2)}[key]
    values = np.zeros(shape, np.float32)
    values[1:] = np.nan
    with pytest.raises(DataError, match=f"`{key}` of 'log'.*in 3 rows, first in row 1"):
        make(**{key: values}).check_finite()


@given(
    st.lists(st.sampled_from([0.0, 1.0, np.nan, np.inf, -np.inf, 3e38, -3e38]), min_size=1).map(
        lambda values: np.array(values, np.float32)
    )
)
def test_not_finite_finds_exactly_the_bad_rows(values):
    assert not_finite(values).tolist() == np.flatnonzero(~np.isfinite(values)).tolist()


def test_an_episode_ends_where_the_log_does_not_go_on():
    obs = np.array([[0, 0], [1, 1], [5, 5], [6, 6]], np.float32)
    after = np.array([[1, 1], [2, 2], [6, 6], [7, 7]], np.float32)
    assert make(obs=obs, next_obs=after).episode_ends.tolist() == [1, 3]


def test_an_episode_ends_where_the_caller_says():
    assert make(episode_ends=np.array([0, 2])).episode_ends.tolist() == [0, 2, 3]


class TestBounds:
    def test_a_task_of_d4rl_has_its_own(self):
        fields = make(action=np.array([[-0.2], [0.1], [1.0], [0]]))
        low, high = bounds(replace(fields, task=TASKS["hopper"]))
        assert (low.tolist(), high.tolist()) == ([-1], [1])

    @pytest.mark.parametrize("unit", [1, 2**-6, 1024])
    def test_else_the_range_of_each_column_in_any_unit(self, unit):
        low, high = bounds(make(action=unit * np.array([[-0.25], [0.5], [1.0], [0]])))
        assert (low.tolist(), high.tolist()) == ([-0.25 * unit], [unit])

    def test_columns_have_ranges_of_their_own(self):
        action = np.array([[0, -3], [5, 2], [1, 0], [2, 1]])
        low, high = bounds(make(action=action))
        assert (low.tolist(), high.tolist()) == ([0, -3], [5, 2])

    def test_a_constant_column_gets_a_range(self):
        action = np.array([[7, 0, 0], [7, 2, 0], [7, 0, 0], [7, 1, 0]])
        low, high = bounds(make(action=action))
        np.testing.assert_allclose((low, high), ([7, 0, 0], [7.007, 2, 0.001]), rtol=1e-6)

    def test_given_bounds_are_kept_and_broadcast(self):
        fields = make(action_low=np.float64(-2), action_high=np.array([3.0]))
        low, high = bounds(fields)
        assert (low.tolist(), high.tolist(), low.dtype) == ([-2], [3], np.float32)

    def test_actions_outside_given_bounds_are_named(self):
        action = np.array([[0.0], [0.5], [1.5], [2.0]])
        fields = make(action=action, action_low=np.float32(-1), action_high=np.float32(1))
        with pytest.raises(DataError, match=r"2 actions of 'log'.*row 2: \[1\.5\]"):
            fields.action_space()

    def test_empty_bounds(self):
        with pytest.raises(DataError, match="bounds are empty"):
            make(action_low=np.float32(1), action_high=np.float32(1)).action_space()

    def test_infinite_bounds_never_make_scaled_actions_nan(self):
        fields = make(action_low=np.float32(-np.inf), action_high=np.float32(np.inf))
        try:
            low, high = bounds(fields)
        except DataError:
            return  # Refusing them is as good as taking the range instead.
        assert np.isfinite([low, high]).all()


def test_names_are_made_once_however_many_findings_name_columns():
    fields = make()
    assert fields.obs_names is fields.obs_names
    assert fields.action_names is fields.action_names


@pytest.mark.parametrize("given", [True, False])
def test_actions_that_no_scaling_holds_are_refused(given):
    far = np.array([[-3e38], [3e38], [0], [1]], np.float32)
    bounds = {"action_low": np.array([-3e38]), "action_high": np.array([3e38])} if given else {}
    with pytest.raises(DataError, match=r"go from -3e\+38 to 3e\+38, which is too far"):
        make(action=far, **bounds).action_space()
