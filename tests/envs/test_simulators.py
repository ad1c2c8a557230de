import numpy as np
import pytest

from countmorl.envs.simulators import Evaluation, evaluate, make_env, record
from countmorl.envs.tasks import TASKS, find_task
from countmorl.errors import ConfigError, MissingExtraError, RunError
from countmorl.runtime.policy import Policy


def linear_policy(obs_dim=3, action_dim=1, scale=2.0, seed=0):
    rng = np.random.default_rng(seed)
    return Policy(
        weights=(rng.standard_normal((obs_dim, action_dim)).astype(np.float32),),
        biases=(np.zeros(action_dim, np.float32),),
        head="tanh",
        obs_mean=np.zeros(obs_dim, np.float32),
        obs_std=np.ones(obs_dim, np.float32),
        action_low=np.full(action_dim, -scale, np.float32),
        action_high=np.full(action_dim, scale, np.float32),
    )


class TestEvaluate:
    def test_the_same_seed_gives_the_same_returns(self):
        one = evaluate(linear_policy(), "Pendulum-v1", episodes=3, seed=5)
        two = evaluate(linear_policy(), "Pendulum-v1", episodes=3, seed=5)
        assert one == two
        assert len(set(one.returns)) == 3

    def test_another_seed_gives_others(self):
        one = evaluate(linear_policy(), "Pendulum-v1", episodes=1, seed=5)
        two = evaluate(linear_policy(), "Pendulum-v1", episodes=1, seed=6)
        assert one.returns != two.returns

    def test_an_episode_does_not_depend_on_how_many_there_are(self):
        few = evaluate(lambda obs: -obs[:, 1:2], "Pendulum-v1", episodes=2, seed=1)
        many = evaluate(lambda obs: -obs[:, 1:2], "Pendulum-v1", episodes=5, seed=1)
        assert many.returns[:2] == few.returns
        assert many.lengths == (200,) * 5

    def test_an_unknown_environment_has_no_score(self):
        values = evaluate(linear_policy(), "Pendulum-v1", episodes=2).as_dict()
        assert (values["score"], values["score_std"]) == (None, None)
        assert values["episodes"] == 2
        assert values["return"] < 0

    def test_returns_are_those_of_a_plain_loop(self):
        """By hand: one episode at a time, from the state that the seed decides."""
        policy = linear_policy(11, 3, 1.0)
        got = evaluate(policy, "hopper", episodes=3, seed=9)
        seeds = np.random.SeedSequence(9).generate_state(3)
        for index in range(3):
            env = make_env("Hopper-v4")
            obs, _ = env.reset(seed=int(seeds[index]))
            total, length, over = 0.0, 0, False
            while not over:
                obs, reward, terminated, truncated, _ = env.step(policy.act(obs[None])[0])
                total, length, over = total + reward, length + 1, terminated or truncated
            env.close()
            assert got.lengths[index] == length
            assert got.returns[index] == pytest.approx(total, rel=1e-3)

    def test_a_finished_episode_gains_nothing_while_others_go_on(self):
        got = evaluate(lambda obs: np.zeros((len(obs), 3)), "hopper", episodes=4, seed=0)
        assert len(set(got.lengths)) > 1
        alone = evaluate(lambda obs: np.zeros((len(obs), 3)), "hopper", episodes=1, seed=0)
        assert got.returns[0] == alone.returns[0]

    def test_the_policy_is_called_once_a_step_for_all(self):
        shapes = []

        def act(obs):
            shapes.append(obs.shape)
            return np.zeros((len(obs), 1))

        evaluate(act, "Pendulum-v1", episodes=3)
        assert shapes == [(3, 3)] * 200

    def test_a_policy_of_other_sizes_is_refused_in_a_sentence(self):
        with pytest.raises(
            RunError,
            match=r"takes 3 numbers and gives 1, but Hopper-v4 has 11 and 3. Give the task",
        ):
            evaluate(linear_policy(), "hopper")

    @pytest.mark.parametrize("episodes", [0, -2])
    def test_no_episodes(self, episodes):
        with pytest.raises(ConfigError, match=f"at least 1, got {episodes}"):
            evaluate(linear_policy(), "Pendulum-v1", episodes=episodes)

    def test_a_negative_seed_is_refused_in_a_sentence(self):
        with pytest.raises(ConfigError, match="seed"):
            evaluate(linear_policy(), "Pendulum-v1", episodes=1, seed=-1)


class TestEvaluation:
    def test_means_and_spreads_by_hand(self):
        result = Evaluation(task=TASKS["hopper"], returns=(100.0, 300.0), lengths=(10, 30))
        values = result.as_dict()
        assert (values["return"], values["return_std"]) == (200, 100)
        assert (values["length"], values["episodes"]) == (20, 2)
        # The references are 3254.572305 apart; the lower one is -20.272305.
        assert values["score"] == pytest.approx(100 * 220.272305 / 3254.572305)
        assert values["score_std"] == pytest.approx(100 * 100 / 3254.572305)


class TestMakeEnv:
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("Nowhere-v0", "'Nowhere-v0' could not be made"),
            ("FrozenLake-v1", "'FrozenLake-v1' has observations Discrete.*wanted a vector"),
        ],
    )
    def test_what_cannot_be_used_is_said(self, name, words):
        with pytest.raises(ConfigError, match=words):
            make_env(name)

    def test_nothing_is_printed_or_written(self, capfd, tmp_path):
        make_env("Hopper-v4").close()
        assert capfd.readouterr() == ("", "")
        assert list(tmp_path.iterdir()) == []

    def test_without_gymnasium_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "gymnasium", None)
        with pytest.raises(MissingExtraError, match=r"countmorl\[mujoco\]"):
            make_env("Hopper-v4")


class TestRecord:
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

    def test_episodes_follow_each_other_by_hand(self):
        env = self.Corridor(limit=10)
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
        steps = list(record(lambda obs: 2, self.Corridor(limit=2), rows=2, seed=0))
        assert steps[1][4:] == (True, False)

    def test_a_limit_is_a_truncation(self):
        steps = list(record(lambda obs: 0, self.Corridor(limit=2), rows=3, seed=0))
        assert [step[4:] for step in steps] == [(False, False), (False, True), (False, False)]


def test_find_task_and_task_mean_the_same():
    task = find_task("Pendulum-v1")
    one = evaluate(linear_policy(), task, episodes=1)
    assert one == evaluate(linear_policy(), "Pendulum-v1", episodes=1)
