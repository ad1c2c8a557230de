import subprocess
import sys

import numpy as np
import pytest

from countmorl.envs.gridworld import LIMIT, WORLDS
from countmorl.errors import ConfigError

gymnasium = pytest.importorskip("gymnasium")
GridWorld = pytest.importorskip("countmorl.envs.gridworld_env").GridWorld
worlds = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)


@worlds
@pytest.mark.parametrize("slip", [0.0, 0.4])
def test_it_steps_as_the_matrices_say(world, slip):
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


def test_it_passes_gymnasiums_own_check():
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


def test_it_is_cut_at_the_limit_and_repeats_with_its_seed():
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


def test_slip_is_checked_when_one_is_made():
    with pytest.raises(ConfigError, match="between 0 and 1"):
        gymnasium.make("countmorl/Cliff-v0", slip=1.5)


def test_what_was_executed_is_told():
    env = gymnasium.make("countmorl/Empty-v0").unwrapped
    env.reset(seed=0)
    assert env.step(1)[4] == {"executed": "down"}
