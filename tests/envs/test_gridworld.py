import numpy as np
import pytest

from countmorl.envs.gridworld import LIMIT, WORLDS, check_slip, find_world, register_worlds
from countmorl.envs.simulators import make_env
from countmorl.envs.tasks import find_task
from countmorl.errors import ConfigError

gymnasium = pytest.importorskip("gymnasium")
worlds = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)


@worlds
def test_world_is_8x8_with_one_start_and_one_goal(world):
    assert world.shape == (8, 8)
    assert (world.states, world.actions) == (64, 4)
    assert (world.cells == "S").sum() == (world.cells == "G").sum() == 1


def test_moves_by_hand():
    cliff = WORLDS["cliff"]
    assert cliff.start == 56
    assert cliff.moves[56].tolist() == [48, 56, 56, 57]  # up, wall, wall, into the lava
    assert cliff.lava[57]
    assert cliff.arrival[57] == -1
    assert cliff.arrival[63] == 1


def test_transition_with_slip_by_hand():
    row = WORLDS["cliff"].transition(0.2)[56, 0]  # Up from the start.
    assert row[48] == pytest.approx(0.85)
    assert row[56] == pytest.approx(0.10)
    assert row[57] == pytest.approx(0.05)
    assert WORLDS["cliff"].reward(0.2)[56, 0] == pytest.approx(-0.05)


@worlds
def test_ended_states_stay_and_pay_nothing(world):
    transition, reward = world.transition(0.3), world.reward(0.3)
    ended = np.flatnonzero(world.terminal)
    assert np.allclose(transition[ended, :, ended], 1)
    assert not reward[ended].any()
    assert np.allclose(transition.sum(axis=2), 1)


def test_worlds_are_tasks():
    task = find_task("countmorl/ZigZag-v0")
    assert (task.env_id, task.horizon) == ("countmorl/ZigZag-v0", LIMIT)
    assert task.available()
    assert make_env("countmorl/ZigZag-v0").reset(seed=0)[0].tolist() == [0]


@pytest.mark.parametrize("name", ["clif", "countmorl/Clif-v0", "countmorl/Cliff-v1"])
def test_unknown_world_is_a_sentence(name):
    with pytest.raises(ConfigError, match=r"Did you mean '.*[cC]liff.*'\?"):
        find_world(name)
    with pytest.raises(ConfigError, match="Did you mean"):
        find_task(name if "/" in name else f"countmorl/{name}")


def test_worlds_are_registered_once():
    register_worlds()
    before = dict(gymnasium.registry)
    register_worlds()
    assert gymnasium.registry == before
    assert {world.env_id for world in WORLDS.values()} <= set(before)


@pytest.mark.parametrize("slip", [-0.1, 1.5, float("nan")])
def test_slip_must_be_a_probability(slip):
    check_slip(0.0)
    check_slip(1.0)
    with pytest.raises(ConfigError, match="between 0 and 1"):
        check_slip(slip)
    with pytest.raises(ConfigError, match="between 0 and 1"):
        WORLDS["cliff"].transition(slip)
