import numpy as np
import pytest

from countmorl.collecting.qlearning import Steps, replay
from countmorl.envs.gridworld import WORLDS
from countmorl.errors import ConfigError
from countmorl.studies.multihot import (
    drawn_rows,
    hot_actions,
    hot_pairs,
    hot_states,
    pair_counts,
    pair_name,
)

BRIDGE = WORLDS["bridge"]


def log(*pairs):
    """A log of the given (state, action) rows; where they lead does not matter."""
    state, action = np.array(pairs, np.int32).T
    flag = np.zeros(len(state), bool)
    zeros = np.zeros(len(state), np.float32)
    return Steps(state, action, zeros, state, flag, flag, zeros + 1)


def test_a_state_is_its_row_and_its_column():
    hot = hot_states(BRIDGE, np.array([8 * 3 + 5]))
    assert np.flatnonzero(hot[0]).tolist() == [3, 8 + 5]
    assert hot.shape == (1, 16)
    assert hot_actions(BRIDGE, np.array([2])).tolist() == [[0, 0, 1, 0]]


def test_every_pair_has_its_own_twenty_numbers():
    hot = hot_pairs(BRIDGE)
    assert hot.shape == (256, 20)
    assert len(np.unique(hot, axis=0)) == 256
    assert ((hot == 1).sum(axis=1) == 3).all()
    assert np.flatnonzero(hot[4 * (8 * 3 + 5) + 2] == 1).tolist() == [3, 8 + 5, 16 + 2]


def test_pairs_are_scaled_as_the_dataset_scales_its_actions():
    step = drawn_rows(BRIDGE, log((29, 2)), 5, drawing="evenly", seed=0).transitions("model")
    row = np.concatenate([step.obs[0], step.action[0]])
    np.testing.assert_array_equal(row, hot_pairs(BRIDGE)[29 * 4 + 2])


def test_pairs_have_names():
    assert pair_name(BRIDGE, 4 * (8 * 3 + 5) + 1) == "down in row 3, column 5"


def test_counts_of_a_log_by_hand():
    counts = pair_counts(BRIDGE, log((0, 1), (0, 1), (63, 3)))
    assert counts.shape == (256,)
    assert counts[[1, 255]].tolist() == [2, 1]
    assert counts.sum() == 3


@pytest.mark.parametrize(("drawing", "share"), [("evenly", 0.5), ("as-logged", 0.9)])
def test_rows_are_drawn_by_pair_or_by_row(drawing, share):
    steps = log(*[(24, 0)] * 9, (25, 3))
    dataset = drawn_rows(BRIDGE, steps, 2000, drawing=drawing, seed=0)
    assert dataset.action[:, 0].mean() == pytest.approx(share, abs=0.04)
    assert (dataset.obs_dim, dataset.action_dim) == (16, 4)


def test_drawn_rows_keep_their_outcomes():
    dataset = drawn_rows(BRIDGE, replay(BRIDGE, rows=500), 200, drawing="evenly", seed=1)
    state = dataset.obs[:, :8].argmax(axis=1) * 8 + dataset.obs[:, 8:].argmax(axis=1)
    ahead = dataset.next_obs[:, :8].argmax(axis=1) * 8 + dataset.next_obs[:, 8:].argmax(axis=1)
    np.testing.assert_array_equal(ahead, BRIDGE.moves[state, dataset.action.argmax(axis=1)])
    assert len(dataset.transitions("model").reward) == 200


def test_too_few_rows_are_refused():
    with pytest.raises(ConfigError, match="at least 5"):
        drawn_rows(BRIDGE, log((0, 0)), 4, drawing="evenly", seed=0)
