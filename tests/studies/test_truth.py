"""Truth by planning and by play."""

import numpy as np
import pytest

from countmorl import load
from countmorl.collecting.qlearning import gridworld_dataset, replay
from countmorl.envs.gridworld import find_world
from countmorl.errors import ConfigError
from countmorl.evaluation.measure import Measure
from countmorl.studies.truth import Teller, play_on
from small_runs import vector_log


class Line:
    """Two steps, or three, then an end; rewards 1, 2, 3."""

    def __init__(self, length):
        self.length = length

    def reset(self, *, seed):
        self.at = 0
        return np.zeros(1), {}

    def step(self, action):
        self.at += 1
        return np.full(1, self.at), float(self.at), self.at == self.length, False, {}


def test_rewards_stop_at_the_end():
    rewards, alive = play_on(lambda obs: obs, [Line(2), Line(9)], 3, seed=0)
    assert rewards.tolist() == [[1, 2, 0], [1, 2, 3]]
    assert alive.tolist() == [[True, False, False], [True, True, True]]


@pytest.fixture(scope="module")
def bridge():
    world = find_world("bridge")
    return gridworld_dataset(world, replay(world, rows=300))


def test_a_grid_world_is_planned_exactly(bridge):
    """From S straight over the bridge: +1 after seven steps."""
    teller = Teller.of(bridge, Measure(discount=0.9), episodes=2)
    found = teller(lambda obs: np.full(len(obs), 3))
    assert found.value == pytest.approx(0.9**6)
    assert (found.error, found.total) == (0, None)
    up = teller(lambda obs: np.zeros(len(obs), int))
    assert up.value == 0  # Up into the wall of the first column, for ever.
    assert teller.chance().value < 0


def test_play_says_the_same_as_planning(bridge):
    """With a horizon there is no planning: a plain sum over ten steps, by play."""
    teller = Teller.of(bridge, Measure(discount=1.0, horizon=10), episodes=2)
    found = teller(lambda obs: np.full(len(obs), 3))
    assert (found.value, found.error, found.total) == (1, 0, 1)


def test_play_goes_on_past_the_time_limit():
    """Pendulum is cut after 200 steps, and the discount looks farther."""
    rows = {**vector_log(), "obs": np.zeros((300, 3)), "next_obs": np.zeros((300, 3))}
    data = load(rows).with_task(load_task("Pendulum-v1"))
    measure = Measure(discount=0.99)
    assert measure.steps > 200
    teller = Teller.of(data, measure, episodes=2)
    still = teller(lambda obs: np.zeros((len(obs), 1)))
    short = Teller.of(data, Measure(discount=1.0, horizon=200), episodes=2)
    assert short(lambda obs: np.zeros((len(obs), 1))).value == pytest.approx(still.total)
    assert still.value < 0
    assert still.error > 0


def test_a_task_that_nobody_can_play_is_a_sentence():
    with pytest.raises(ConfigError, match="cannot be simulated here"):
        Teller.of(load(vector_log()), Measure(discount=0.9), episodes=2)


def load_task(env_id):
    from countmorl.envs.tasks import find_task

    return find_task(env_id)
