import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countmorl.data.sources import load
from countmorl.errors import DataError
from countmorl.tabular.data import TabularData


def rows(**changes):
    columns = {
        "obs": np.array([0, 1, 0, 1]),
        "action": np.array([0, 1, 1, 1]),
        "reward": np.array([0.0, 1.0, 0.5, 1.0]),
        "next_obs": np.array([1, 2, 1, 0]),
        "terminated": np.array([0, 1, 0, 0]),
        "truncated": np.array([0, 0, 0, 1]),
    }
    return load({**columns, **changes})


def test_counts_by_hand():
    data = TabularData.of(rows())
    assert (data.states, data.actions, data.given_states) == (3, 2, 3)
    assert data.counts.tolist() == [[1, 1], [0, 2], [0, 0]]
    assert data.outcomes[1 * 2 + 1].tolist() == [1, 0, 1]
    assert data.reward_sum.tolist() == [[0, 0.5], [0, 2], [0, 0]]
    assert data.terminal.tolist() == [False, False, True]
    assert data.start.tolist() == [1, 0, 0]
    assert data.behaviour.tolist() == [[0.5, 0.5], [0, 1], [0.5, 0.5]]
    assert data.reward_range == (0, 1)


def test_an_end_that_is_not_always_an_end_gets_a_twin():
    data = TabularData.of(rows(next_obs=np.array([1, 1, 1, 0])))
    assert (data.states, data.given_states) == (3, 2)
    assert data.terminal.tolist() == [False, False, True]
    assert data.outcomes[1 * 2 + 1].tolist() == [1, 0, 1]  # The end at 1 is state 2 now.


def test_rows_without_a_next_observation_count_only_where_the_task_ended():
    dataset = rows()
    bare = load({"obs": dataset.obs, "action": dataset.stored["action"], "reward": dataset.reward,
                 "terminated": dataset.terminated, "truncated": dataset.truncated})  # fmt: skip
    data = TabularData.of(bare)
    assert data.counts.sum() == 3  # The last row's next observation is unknown.
    assert data.terminal.sum() == 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_row_is_counted_once_dense_and_sparse(seed):
    rng = np.random.default_rng(seed)
    size = 50
    state, after = rng.integers(0, 6, (2, size))
    action, reward = rng.integers(0, 3, size), rng.normal(size=size)
    ended = rng.random(size) < 0.2
    args = (state, action, reward, after, ended)
    small = TabularData.of_rows(*args, first=state[:1])
    large = TabularData.of_rows(*args, first=state[:1], states=2000)
    assert small.counts.sum() == size
    assert small.reward_sum.sum() == pytest.approx(reward.sum())
    assert not isinstance(large.outcomes, np.ndarray)
    assert (large.counts[:6, : small.actions] == small.counts[:6]).all()
    assert not small.counts[small.terminal].any()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"obs": np.linspace(0, 1, 4)}, "observations of 'arrays' are continuous"),
        ({"action": np.array([0, 0.5, 1, 1])}, "actions of 'arrays' are continuous"),
        ({"obs": np.zeros((4, 2)), "next_obs": np.zeros((4, 2))}, "have 2 columns"),
        ({"obs": np.array([-1, 1, 0, 1])}, "run from -1"),
    ],
)
def test_what_is_not_discrete_is_refused_in_a_sentence(changes, words):
    with pytest.raises(DataError, match=words):
        TabularData.of(rows(**changes))


def test_too_few_states_or_actions_are_named():
    with pytest.raises(DataError, match="holds the number 2, but there are only 2 states"):
        TabularData.of(rows(), states=2)
    with pytest.raises(DataError, match="only 1 actions"):
        TabularData.of(rows(), actions=1)
