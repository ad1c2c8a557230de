import jax
import numpy as np
import pytest

from countmorl.collecting.qlearning import ROWS, count_steps, gridworld_dataset, replay
from countmorl.envs.gridworld import LIMIT, WORLDS
from countmorl.errors import ConfigError
from countmorl.tabular.data import TabularData

worlds = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)


@worlds
def test_datasets_have_the_papers_size_and_no_action_after_the_end(world):
    with jax.numpy_dtype_promotion("strict"):
        steps = replay(world)
    sizes = {"empty": 10**6, "bridge": 160_000, "cliff": 140_000, "zigzag": 300_000}
    assert ROWS == sizes
    assert all(len(column) == sizes[world.name] for column in steps)
    assert not world.terminal[steps.state].any()
    assert (world.terminal[steps.next_state] == steps.terminated).all()
    assert (world.arrival[steps.next_state] == steps.reward).all()
    counts = count_steps(world, steps).counts
    if world.name == "empty":  # All that can be visited: 63 states x 4 actions.
        assert (counts[~world.terminal] > 0).all()
    assert (steps.reward == 1).any()  # The goal is in every log.


def test_steps_follow_the_moves_and_episodes_begin_at_the_start():
    world = WORLDS["zigzag"]
    steps = replay(world, rows=5000, seed=1)
    assert (steps.next_state == world.moves[steps.state, steps.action]).all()
    over = steps.terminated | steps.truncated
    following = np.where(over, world.start, steps.next_state)[:-1]
    assert (steps.state[1:] == following).all()
    assert np.diff(np.flatnonzero(over), prepend=-1).max() <= LIMIT
    assert not (steps.terminated & steps.truncated).any()


def test_slip_moves_as_often_as_the_matrix_says():
    world = WORLDS["cliff"]
    data = count_steps(world, replay(world, rows=50_000, slip=0.3))
    counts = data.counts.reshape(-1)
    shares = data.outcomes / np.maximum(counts, 1)[:, None]
    often = counts > 1000
    assert often.sum() > 5
    truth = world.transition(0.3).reshape(-1, 64)
    assert np.abs(shares - truth)[often].max() < 0.06


def test_same_seed_same_log():
    world = WORLDS["bridge"]
    first, again, other = (replay(world, rows=300, seed=seed) for seed in (0, 0, 1))
    assert (first.state == again.state).all()
    assert (first.state != other.state).any()


def test_dataset_counts_like_the_log():
    world = WORLDS["bridge"]
    steps = replay(world, rows=2000, slip=0.1)
    dataset = gridworld_dataset(world, steps)
    assert len(dataset) == 2000
    assert dataset.task.env_id == world.env_id
    data = TabularData.of(dataset, states=64, actions=4)
    direct = count_steps(world, steps)
    assert (data.outcomes == direct.outcomes).all()
    assert (data.start == direct.start).all()


def test_bad_numbers_are_refused():
    with pytest.raises(ConfigError, match="at least 1"):
        replay(WORLDS["cliff"], rows=0)
    with pytest.raises(ConfigError, match="between 0 and 1"):
        replay(WORLDS["cliff"], rows=5, slip=-0.1)


def test_the_learner_writes_down_how_likely_its_actions_were():
    """All random at first; in the end 0.2 / 4, and 0.8 more for the best."""
    world = WORLDS["bridge"]
    steps = replay(world, rows=4000)
    assert steps.propensity[0] == pytest.approx(0.25)
    late = steps.propensity[1000:]
    for usual in (0.05, 0.85):
        assert np.isclose(late, usual).any()
    # Actions are taken as often as they are said to be: E[1 / chance of what was done] = 4.
    assert (1 / steps.propensity).mean() == pytest.approx(4, rel=0.1)
    np.testing.assert_array_equal(gridworld_dataset(world, steps).propensity, steps.propensity)
