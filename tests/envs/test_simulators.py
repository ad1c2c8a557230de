import sys
from types import SimpleNamespace

import numpy as np
import pytest

from countmorl.envs.simulators import check_fit, make_env, play, record
from countmorl.envs.tasks import find_task
from countmorl.errors import ConfigError, MissingExtraError, RunError

gymnasium = pytest.importorskip("gymnasium")
spaces = gymnasium.spaces
VECTORS, NUMBERS = spaces.Box(-1, 1, (2,)), spaces.Discrete(2)


class TestMakeEnv:
    def test_what_does_not_exist_is_said(self):
        with pytest.raises(ConfigError, match="'Nowhere-v0' could not be made"):
            make_env("Nowhere-v0")

    @pytest.mark.parametrize(
        ("space", "words"),
        [
            (spaces.Box(0, 255, (8, 8, 3)), r"has observations Box.*wanted a vector"),
            (spaces.MultiDiscrete([3, 3]), r"has observations MultiDiscrete.*wanted a vector"),
        ],
    )
    def test_observations_that_are_no_vectors(self, own_env, space, words):
        with pytest.raises(ConfigError, match=words):
            make_env(own_env("Images-v0", observations=space))

    @pytest.mark.parametrize(
        "space",
        [
            spaces.Box(-1, 1, (2, 2)),
            spaces.MultiBinary(3),
            spaces.Discrete(1),
            spaces.Discrete(3, start=1),
        ],
        ids=str,
    )
    def test_actions_of_another_kind(self, own_env, space):
        with pytest.raises(ConfigError, match=r"has actions .*; wanted a vector of numbers, or"):
            make_env(own_env("Odd-v0", actions=space))

    @pytest.mark.parametrize("name", ["countmorl/Cliff-v0", "FrozenLake-v1"])
    def test_numbered_states_are_vectors_of_one_number(self, name):
        env = make_env(name)
        obs, _ = env.reset(seed=0)
        assert (env.observation_space.shape, obs.shape, obs.dtype) == ((1,), (1,), np.float32)
        assert env.observation_space.contains(obs)
        after = env.step(1)[0]
        assert after.shape == (1,)
        env.close()

    def test_states_that_are_counted_from_elsewhere(self, own_env):
        name = own_env("Low-v0", observations=spaces.Discrete(5, start=-2))
        space = make_env(name).observation_space
        assert (space.low.tolist(), space.high.tolist()) == ([-2], [2])

    def test_nothing_is_printed_or_written(self, capfd, tmp_path):
        make_env("Hopper-v4").close()
        assert capfd.readouterr() == ("", "")
        assert list(tmp_path.iterdir()) == []

    def test_without_gymnasium_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "gymnasium", None)
        with pytest.raises(MissingExtraError, match=r"countmorl\[mujoco\]"):
            make_env("Hopper-v4")

    def test_a_module_that_nobody_named_is_not_imported(self, monkeypatch, tmp_path):
        """An id may come from a file, and then even a known environment brings no code."""
        (tmp_path / "stranger.py").write_text("raise SystemExit('ran')")
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(ConfigError, match=r"no file alone makes code run.*--task"):
            make_env("stranger:CartPole-v1")


@pytest.fixture
def own_env(monkeypatch):
    """Register an environment with the given spaces for the length of a test."""

    def register(name, observations=VECTORS, actions=NUMBERS):
        class Own(gymnasium.Env):
            observation_space, action_space = observations, actions

        monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(gymnasium.registry))
        gymnasium.register(name, entry_point=Own, disable_env_checker=True)
        return name

    return register


class TestCheckFit:
    def policy(self, obs_dim, action_dim, discrete):
        return SimpleNamespace(obs_dim=obs_dim, action_dim=action_dim, discrete=discrete)

    @pytest.mark.parametrize(
        ("env", "sizes"), [("Pendulum-v1", (3, 1, False)), ("CartPole-v1", (4, 2, True))]
    )
    def test_what_fits(self, env, sizes):
        check_fit(self.policy(*sizes), make_env(env), find_task(env))

    @pytest.mark.parametrize("sizes", [(4, 1, False), (3, 2, False)])
    def test_other_sizes(self, sizes):
        with pytest.raises(RunError, match=r"but Pendulum-v1 has 3 and 1. Give the task it was"):
            check_fit(self.policy(*sizes), make_env("Pendulum-v1"), find_task("Pendulum-v1"))

    def test_other_actions(self):
        words = "Mine gives a vector of numbers, but CartPole-v1 takes one of several actions"
        with pytest.raises(RunError, match=words):
            check_fit(
                self.policy(4, 2, False), make_env("CartPole-v1"), find_task("CartPole-v1"), "Mine"
            )


class Corridor:
    """Position 0, 1, 2, ...: ends at 3; the clock stops it after `limit` steps."""

    def __init__(self, limit):
        self.limit, self.seeds = limit, []

    def reset(self, seed=None):
        self.seeds.append(seed)
        self.position = self.clock = 0
        return np.float32([0]), {}

    def step(self, action):
        self.position += int(action)
        self.clock += 1
        fell, late = self.position >= 3, self.clock >= self.limit
        return np.float32([self.position]), float(self.position), fell, late, {}


class TestPlay:
    def test_returns_and_lengths_by_hand(self):
        """Rewards 2, 4 and the end at 4; rewards 1, 2 and then the clock."""
        envs = [Corridor(limit=9), Corridor(limit=2)]
        returns, lengths = play(lambda obs: np.array([2, 1]), envs, seed=0)
        assert (returns.tolist(), lengths.tolist()) == ([6, 3], [2, 2])

    def test_an_ended_episode_gains_nothing_while_others_go_on(self):
        envs = [Corridor(limit=1), Corridor(limit=5)]
        returns, lengths = play(lambda obs: np.array([1, 0]), envs, seed=0)
        assert (returns.tolist(), lengths.tolist()) == ([1, 0], [1, 5])

    def test_the_policy_is_called_once_a_step_for_all(self):
        shapes = []

        def act(obs):
            shapes.append(obs.shape)
            return np.zeros(len(obs))

        play(act, [Corridor(limit=4), Corridor(limit=2)], seed=0)
        assert shapes == [(2, 1)] * 4

    def test_an_episode_starts_where_the_seed_and_its_number_say(self):
        few, many = [Corridor(limit=1)], [Corridor(limit=1) for _ in range(3)]
        for envs in (few, many):
            play(lambda obs: np.zeros(len(obs)), envs, seed=4)
        assert few[0].seeds == many[0].seeds
        assert len({env.seeds[0] for env in many}) == 3


class TestRecord:
    def test_episodes_follow_each_other_by_hand(self):
        env = Corridor(limit=10)
        steps = list(record(lambda obs: 2, env, rows=5, seed=7))
        assert [(float(s[0][0]), float(s[3][0]), s[4], s[5]) for s in steps] == [
            (0, 2, False, False),
            (2, 4, True, False),
            (0, 2, False, False),
            (2, 4, True, False),
            (0, 2, False, False),
        ]
        assert env.seeds == [7, None, None]

    def test_a_fall_at_the_limit_is_a_fall(self):
        steps = list(record(lambda obs: 2, Corridor(limit=2), rows=2, seed=0))
        assert steps[1][4:] == (True, False)

    def test_a_limit_is_a_truncation(self):
        steps = list(record(lambda obs: 0, Corridor(limit=2), rows=3, seed=0))
        assert [step[4:] for step in steps] == [(False, False), (False, True), (False, False)]
