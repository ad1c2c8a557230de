import numpy as np
import pytest

from countmorl import Estimate, evaluate, load
from countmorl.envs.simulators import make_env
from countmorl.envs.tasks import TASKS, Task, find_task
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.evaluation.simulate import Simulation
from countmorl.runtime.policy import Policy
from countmorl.runtime.tabular import TabularPolicy
from countmorl.spaces import ActionSpace


def linear_policy(obs_dim=3, action_dim=1, scale=2.0, seed=0):
    rng = np.random.default_rng(seed)
    high = np.full(action_dim, scale, np.float32)
    return Policy(
        weights=(rng.standard_normal((obs_dim, action_dim)).astype(np.float32),),
        biases=(np.zeros(action_dim, np.float32),),
        head="tanh",
        obs_mean=np.zeros(obs_dim, np.float32),
        obs_std=np.ones(obs_dim, np.float32),
        space=ActionSpace(low=-high, high=high),
    )


class TestEvaluate:
    def test_the_same_seed_gives_the_same_estimate(self):
        one, two, other = (
            evaluate(linear_policy(), "Pendulum-v1", episodes=3, seed=seed) for seed in (5, 5, 6)
        )
        assert one == two
        assert one.value != other.value

    def test_a_name_and_its_task_mean_the_same(self):
        one = evaluate(linear_policy(), find_task("Pendulum-v1"), episodes=1)
        assert one == evaluate(linear_policy(), "Pendulum-v1", episodes=1)

    def test_a_function_of_observations_will_do(self):
        estimate = evaluate(lambda obs: -obs[:, 1:2], "Pendulum-v1", episodes=2, seed=1)
        assert estimate.value < 0
        assert estimate.facts["length"] == 200

    def test_returns_are_those_of_a_plain_loop(self):
        """By hand: one episode at a time, from the state that the seed decides."""
        policy = linear_policy(11, 3, 1.0)
        got = evaluate(policy, "hopper", episodes=3, seed=9)
        returns, lengths = [], []
        for seed in np.random.SeedSequence(9).generate_state(3):
            env = make_env("Hopper-v4")
            obs, _ = env.reset(seed=int(seed))
            total, length, over = 0.0, 0, False
            while not over:
                obs, reward, terminated, truncated, _ = env.step(policy.act(obs[None])[0])
                total, length, over = total + reward, length + 1, terminated or truncated
            env.close()
            returns.append(total)
            lengths.append(length)
        assert got.facts["length"] == np.mean(lengths)
        assert got.value == got.facts["return"] == pytest.approx(np.mean(returns), rel=1e-3)
        assert got.facts["score"] == TASKS["hopper"].score(got.value)

    def test_a_table_plays_in_its_grid_world(self):
        """Along the bridge: seven steps to the right of the start lies the goal."""
        right = np.tile([0.0, 0, 0, 1], (64, 1))
        policy = TabularPolicy(probabilities=right, counts=right, info={})
        estimate = evaluate(policy, "countmorl/Bridge-v0", episodes=2)
        assert (estimate.value, estimate.facts["length"]) == (1.0, 7)
        short = TabularPolicy(probabilities=right[:26], counts=right[:26], info={})
        with pytest.raises(DataError, match="State 26 is not one of the policy's 26 states"):
            evaluate(short, "countmorl/Bridge-v0")

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
        with pytest.raises(ConfigError, match="`seed` must be at least 0, got -1"):
            evaluate(linear_policy(), "Pendulum-v1", episodes=1, seed=-1)


class TestEstimate:
    def test_means_spreads_and_interval_by_hand(self):
        returns, lengths = np.array([100.0, 300.0]), np.array([10, 30])
        result = Simulation(task=TASKS["hopper"]).estimate(returns, lengths)
        facts = result.facts
        assert (result.value, facts["return"], facts["return_std"]) == (200, 200, 100)
        assert facts["length"] == 20
        # The references are 3254.572305 apart; the lower one is -20.272305.
        assert facts["score"] == pytest.approx(100 * 220.272305 / 3254.572305)
        assert facts["score_std"] == pytest.approx(100 * 100 / 3254.572305)
        # The sample's deviation is 100 sqrt(2), so the mean's standard error is 100.
        assert result.interval == pytest.approx((4, 396))
        assert result.unit == "return of an episode"
        assert result.made_by == "2 episodes played in Hopper-v4"

    def test_one_episode_says_nothing_of_others(self):
        result = Simulation(task=TASKS["hopper"]).estimate(np.array([1.0]), np.array([5]))
        assert result.interval is None

    def test_without_references_there_is_no_score(self):
        result = Simulation(task=TASKS["hopper-v5"]).estimate(np.ones(3), np.ones(3))
        assert set(result.facts) == {"return", "return_std", "length"}
        assert isinstance(result, Estimate)


class TestSimulation:
    def test_of_a_dataset_whose_task_can_be_played(self, log):
        dataset = load(log(action=1), task="Pendulum-v1")
        assert Simulation.of(dataset, 3) == Simulation(task=dataset.task, episodes=3)

    def test_of_one_without(self, log, monkeypatch):
        assert Simulation.of(load(log()), 3) is None
        unknown = load(log()).with_task(Task(name="x", env_id="Nowhere-v0"))
        assert Simulation.of(unknown, 3) is None

    def test_sizes_are_checked_before_any_training(self, log):
        play = Simulation(task=find_task("Pendulum-v1"))
        play.check(load(log(action=1)), "A policy for 'log'")
        with pytest.raises(RunError, match="A policy for 'log' takes 3 numbers and gives 2, but"):
            play.check(load(log()), "A policy for 'log'")
