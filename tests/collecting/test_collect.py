import numpy as np
import pytest

from countmorl.collecting.collect import collect
from countmorl.data.check import check
from countmorl.envs.tasks import find_task
from countmorl.errors import ConfigError, RunError
from countmorl.runtime.policy import Policy
from countmorl.runtime.tabular import TabularPolicy
from countmorl.spaces import ActionSpace

PENDULUM = "Pendulum-v1"


def constant_policy(action, *, obs_dim=3, spread=None):
    """A policy that always gives `action`, within -2 and 2; with `spread` around it."""
    wanted = np.arctanh(np.float32([action]) / 2)
    bias = wanted if spread is None else np.append(wanted, np.log(np.float32(spread)))
    return Policy(
        weights=(np.zeros((obs_dim, len(bias)), np.float32),),
        biases=(bias.astype(np.float32),),
        head="tanh" if spread is None else "tanh_normal",
        obs_mean=np.zeros(obs_dim, np.float32),
        obs_std=np.ones(obs_dim, np.float32),
        space=ActionSpace(low=np.float32([-2]), high=np.float32([2])),
    )


@pytest.fixture(scope="module")
def random_log():
    return collect(find_task(PENDULUM), rows=450, seed=3)


def test_every_step_is_kept_and_episodes_are_marked(random_log):
    # Pendulum never terminates; its time limit is 200 steps.
    assert len(random_log) == 450
    assert np.flatnonzero(random_log.truncated).tolist() == [199, 399]
    assert not random_log.terminated.any()
    assert random_log.episode_ends.tolist() == [199, 399, 449]
    assert random_log.next_known.all()


def test_the_log_is_clean_and_knows_its_task_and_bounds(random_log):
    assert check(random_log.arrays) == []
    assert random_log.task == find_task(PENDULUM)
    assert random_log.name == "Pendulum-v1-random"
    assert (random_log.space.low.tolist(), random_log.space.high.tolist()) == ([-2], [2])


def test_random_actions_fill_their_range(random_log):
    assert random_log.action.min() < -1.9
    assert random_log.action.max() > 1.9
    assert abs(random_log.action.mean()) < 0.2


def test_the_same_seed_gives_the_same_log(random_log):
    again = collect(find_task(PENDULUM), rows=450, seed=3)
    other = collect(find_task(PENDULUM), rows=450, seed=4)
    np.testing.assert_array_equal(again.obs, random_log.obs)
    assert (other.obs[0] != random_log.obs[0]).any()


def test_episodes_start_from_different_states(random_log):
    assert (random_log.obs[0] != random_log.obs[200]).any()


def test_a_policy_acts():
    dataset = collect(find_task(PENDULUM), constant_policy(1.0), rows=20, name="mine")
    np.testing.assert_allclose(dataset.action, 1, atol=1e-6)
    assert dataset.name == "mine"


def test_a_stochastic_policy_is_sampled_unless_told_otherwise():
    policy = constant_policy(0.5, spread=0.3)
    sampled = collect(find_task(PENDULUM), policy, rows=50)
    mean = collect(find_task(PENDULUM), policy, rows=50, deterministic=True)
    assert sampled.action.std() > 0.1
    np.testing.assert_allclose(mean.action, 0.5, atol=1e-6)


def test_numbered_states_are_one_column_and_actions_numbers():
    dataset = collect(find_task("FrozenLake-v1"), rows=30)
    assert (dataset.obs_dim, dataset.discrete, dataset.action_dim) == (1, True, 4)
    assert dataset.next_known.all()
    assert set(dataset.stored["action"].tolist()) <= {0, 1, 2, 3}
    np.testing.assert_array_equal(dataset.obs, np.floor(dataset.obs))


def test_a_table_acts_in_its_grid_world():
    """From the start of the bridge to the right: seven steps to the goal."""
    right = np.tile([0.0, 0, 0, 1], (64, 1))
    policy = TabularPolicy(probabilities=right, counts=right, info={})
    dataset = collect(find_task("countmorl/Bridge-v0"), policy, rows=14)
    assert dataset.obs[:, 0].tolist() == [*range(24, 31)] * 2
    assert np.flatnonzero(dataset.terminated).tolist() == [6, 13]
    assert dataset.reward.sum() == 2


def test_a_policy_of_other_sizes_is_refused():
    with pytest.raises(RunError, match="takes 4 numbers and gives 1, but Pendulum-v1 has 3 and 1"):
        collect(find_task(PENDULUM), constant_policy(0.0, obs_dim=4), rows=5)


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_a_seed_out_of_range(seed):
    with pytest.raises(ConfigError, match=f"`seed` must be from 0 to 2147483647, got {seed}"):
        collect(find_task(PENDULUM), rows=5, seed=seed)


@pytest.mark.parametrize("rows", [0, -1])
def test_no_rows(rows):
    with pytest.raises(ConfigError, match=f"`rows` must be at least 1, got {rows}"):
        collect(find_task(PENDULUM), rows=rows)


def test_a_fall_is_terminal_and_has_its_true_next_state():
    dataset = collect(find_task("hopper"), rows=60)
    falls = np.flatnonzero(dataset.terminated)
    assert len(falls) >= 1
    # A fallen hopper is low or leans; a state after a reset is neither.
    height, angle = dataset.next_obs[falls, 0], dataset.next_obs[falls, 1]
    assert ((height <= 0.7) | (np.abs(angle) >= 0.2)).all()
    assert check(dataset.arrays) == []


def test_chance_is_written_down_with_discrete_actions():
    """Two actions at random are each one half."""
    dataset = collect(find_task("CartPole-v1"), rows=30)
    np.testing.assert_array_equal(dataset.propensity, 0.5)
    assert collect(find_task(PENDULUM), rows=5).propensity is None


def test_a_policys_chance_of_what_it_did_is_written_down():
    """softmax(0, log 3) is a quarter and three quarters."""
    policy = Policy(
        weights=(np.zeros((4, 2), np.float32),),
        biases=(np.log(np.float32([1, 3])),),
        head="categorical",
        obs_mean=np.zeros(4, np.float32),
        obs_std=np.ones(4, np.float32),
        space=ActionSpace.numbered(2),
    )
    sampled = collect(find_task("CartPole-v1"), policy, rows=60)
    expected = np.where(sampled.stored["action"] == 1, 0.75, 0.25)
    assert set(sampled.stored["action"].tolist()) == {0, 1}
    np.testing.assert_allclose(sampled.propensity, expected, rtol=1e-6)
    certain = collect(find_task("CartPole-v1"), policy, rows=5, deterministic=True)
    np.testing.assert_array_equal(certain.propensity, 1)


def test_a_policy_of_ones_own_tells_no_chance():
    class Mine:
        obs_dim, action_dim, discrete = 4, 2, True

        def act(self, obs, *, rng=None):
            return 1

    assert collect(find_task("CartPole-v1"), Mine(), rows=5).propensity is None


def test_a_tables_chance_is_its_own():
    chances = np.tile([0.1, 0.2, 0.3, 0.4], (64, 1))
    policy = TabularPolicy(probabilities=chances, counts=chances, info={})
    dataset = collect(find_task("countmorl/Bridge-v0"), policy, rows=40)
    expected = 0.1 * (dataset.stored["action"] + 1)
    np.testing.assert_allclose(dataset.propensity, expected, rtol=1e-6)
