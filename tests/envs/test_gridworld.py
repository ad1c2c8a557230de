import subprocess
import sys

import numpy as np
import pytest

from countmorl.envs.gridworld import LIMIT, WORLDS, find_world, register_worlds
from countmorl.envs.simulators import make_env
from countmorl.envs.tasks import find_task
from countmorl.errors import ConfigError

gymnasium = pytest.importorskip("gymnasium")
GridWorld = pytest.importorskip("countmorl.envs.gridworld_env").GridWorld
worlds = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)


@pytest.fixture(autouse=True)
def registered():
    register_worlds()


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


@worlds
@pytest.mark.parametrize("slip", [0.0, 0.4])
def test_env_steps_as_the_matrices_say(world, slip):
    env = gymnasium.make(world.env_id, slip=slip).unwrapped
    env.reset(seed=0)
    states = np.random.default_rng(0).choice(np.flatnonzero(~world.terminal), 8, replace=False)
    draws = 1 if slip == 0 else 600
    for state, action in zip(states, [0, 1, 2, 3] * 2, strict=True):
        arrived = np.zeros(world.states)
        paid = 0.0
        for _ in range(draws):
            env.state = int(state)
            after, reward, terminated, truncated, _ = env.step(int(action))
            assert (reward, terminated) == (world.arrival[after], world.terminal[after])
            assert not truncated
            arrived[after] += 1 / draws
            paid += reward / draws
        assert np.abs(arrived - world.transition(slip)[state, action]).sum() < 0.15
        assert paid == pytest.approx(world.reward(slip)[state, action], abs=0.1)


def test_env_passes_gymnasiums_own_check():
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make("countmorl/Bridge-v0", slip=0.1).unwrapped, skip_render_check=True)


def test_one_line_makes_a_world_in_a_fresh_process():
    program = (
        "import gymnasium; "
        "env = gymnasium.make('countmorl.envs.gridworld_env:countmorl/Bridge-v0', slip=0.1); "
        "print(env.reset(seed=0)[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip()) == (0, "24"), done.stderr


def test_env_is_cut_at_the_limit_and_repeats_with_its_seed():
    env = gymnasium.make("countmorl/Empty-v0", slip=0.5)

    def walk():
        env.reset(seed=3)
        steps = [env.step(0) for _ in range(LIMIT)]
        return [step[0] for step in steps], steps[-1]

    first, last = walk()
    assert last[3]
    assert not last[2]
    assert walk()[0] == first


def test_a_step_after_the_end_is_refused():
    env = gymnasium.make("countmorl/Cliff-v0").unwrapped
    env.reset()
    assert env.step(3)[1:3] == (-1.0, True)
    with pytest.raises(ConfigError, match="call reset"):
        env.step(0)


def test_rendering():
    text = gymnasium.make("countmorl/Cliff-v0", render_mode="ansi")
    text.reset()
    assert text.render().splitlines()[-1] == "@LLLLLLG"
    image = gymnasium.make("countmorl/Cliff-v0", render_mode="rgb_array")
    image.reset()
    assert image.render().shape == (256, 256, 3)
    assert image.render().dtype == np.uint8
    with pytest.raises(ConfigError, match="render_mode"):
        GridWorld("cliff", render_mode="human")


def test_worlds_are_tasks():
    task = find_task("countmorl/ZigZag-v0")
    assert (task.env_id, task.horizon) == ("countmorl/ZigZag-v0", LIMIT)
    with pytest.raises(ConfigError, match="wanted a vector"):
        make_env("countmorl/ZigZag-v0")


@pytest.mark.parametrize("name", ["clif", "countmorl/Clif-v0", "countmorl/Cliff-v1"])
def test_unknown_world_is_a_sentence(name):
    with pytest.raises(ConfigError, match=r"Did you mean '.*[cC]liff.*'\?"):
        find_world(name)
    with pytest.raises(ConfigError, match="Did you mean"):
        find_task(name if "/" in name else f"countmorl/{name}")


def test_slip_must_be_a_probability():
    with pytest.raises(ConfigError, match="between 0 and 1"):
        gymnasium.make("countmorl/Cliff-v0", slip=1.5)
