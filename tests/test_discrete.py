"""Discrete actions, from a log of numbers to a policy that gives numbers."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

from countmorl import Policy, RunOptions, load, train
from countmorl.agents.conservative import Conservative, ConservativeConfig
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.bc import BC
from countmorl.collecting.collect import collect
from countmorl.collecting.online import OnlineConfig, OnlineFit
from countmorl.counting.base import CodesConfig
from countmorl.counting.exact import ExactCounter
from countmorl.counting.query import counts as load_query
from countmorl.data.check import check
from countmorl.data.joining import concatenate
from countmorl.data.readers.hdf5 import write_hdf5
from countmorl.data.readers.npz import write_npz
from countmorl.envs.tasks import find_task
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.evaluation.simulate import evaluate
from countmorl.nets import Categorical
from countmorl.spaces import ActionSpace
from countmorl.tabular.data import TabularData
from countmorl.types import Transition
from oracles import mlp
from small_runs import numbered_log as log
from small_runs import small

CARTPOLE = "CartPole-v1"
OPTIONS = RunOptions(save_every=1, eval_every=0)


# Data


def test_whole_numbers_in_one_column_are_discrete_actions():
    dataset = load(log())
    assert dataset.discrete
    assert dataset.action_dim == 3
    np.testing.assert_array_equal(dataset.action.argmax(axis=1), log()["action"])
    np.testing.assert_array_equal(dataset.action.sum(axis=1), 1)
    np.testing.assert_array_equal(dataset.transitions().action, dataset.action)
    assert load(log(action=log()["action"][:, None])).hash == dataset.hash
    assert dataset.card()["discrete"]


def test_whole_numbers_with_bounds_and_floats_are_quantities():
    bounds = {"action_low": np.array([0.0]), "action_high": np.array([2.0])}
    assert not load(log(**bounds)).discrete
    assert not load(log(action=log()["action"].astype(np.float32))).discrete


def test_the_number_of_actions_may_be_given():
    dataset = load(log(action_count=np.array(5), action=log()["action"].astype(np.float32)))
    assert dataset.discrete
    assert dataset.action_dim == 5


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"action_count": np.array(2)}, "whole numbers from 0 to 1 .* holds 2"),
        ({"action_count": np.array(1)}, "`action_count` must be one whole number from 2 to 256"),
        ({"action_count": np.array(2.5)}, "`action_count` must be one whole number"),
        ({"action_count": np.array([2, 2])}, "`action_count` must be one whole number"),
        ({"action_count": np.array(3), "action": np.full(300, 0.5)}, "row 0 holds 0.5"),
        ({"action_count": np.array(3), "action": np.full(300, np.nan)}, "row 0 holds nan"),
    ],
)
def test_wrong_numbers_are_refused(more, words):
    with pytest.raises(DataError, match=words):
        load(log(**more))


@pytest.mark.parametrize("suffix", ["npz", "hdf5"])
def test_files_give_the_same_dataset_back(tmp_path, suffix):
    dataset = load(log(action_count=np.array(4)))
    path = tmp_path / f"log.{suffix}"
    (write_npz if suffix == "npz" else write_hdf5)(dataset, path)
    again = load(path)
    assert again.hash == dataset.hash
    assert again.discrete
    assert again.action_dim == 4


def test_check_names_actions_never_taken():
    findings = check(load(log(action_count=np.array(5))))
    messages = [finding.message for finding in findings]
    assert "actions [3, 4] are always or never taken" in messages
    assert not any("bound" in message for message in messages)


def test_logs_of_other_actions_cannot_be_joined():
    vectors = load(log(action=np.zeros((300, 3), np.float32)))
    with pytest.raises(DataError, match="other sizes"):
        concatenate({"a": load(log()), "b": vectors}, "both")


# Environments


def test_collect_and_evaluate():
    dataset = collect(find_task(CARTPOLE), rows=300)
    assert dataset.discrete
    assert dataset.action_dim == 2
    assert 0.3 < dataset.action[:, 0].mean() < 0.7
    right = evaluate(lambda obs: np.ones(len(obs), int), CARTPOLE, episodes=3)
    assert right.facts["length"] < 15  # Always the same way: the pole falls at once.


def test_spaces_that_cannot_be_used_are_refused():
    gymnasium = pytest.importorskip("gymnasium")

    class Odd(gymnasium.Env):
        action_space = gymnasium.spaces.MultiDiscrete([2, 2])
        spec = gymnasium.spec(CARTPOLE)

    with pytest.raises(ConfigError, match="wanted a vector of numbers, or Discrete"):
        ActionSpace.of(Odd())


def test_vectors_and_actions_of_a_space():
    numbers = ActionSpace.numbered(3)
    np.testing.assert_array_equal(numbers.vectors(np.array([2, 0])), [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(numbers.actions(np.eye(3)), [0, 1, 2])
    box = ActionSpace(low=np.array([0.0]), high=np.array([4.0]))
    np.testing.assert_allclose(box.vectors(np.array([[1.0]])), [[-0.5]])
    np.testing.assert_allclose(box.actions(np.array([[-0.5]])), [[1.0]])


def test_online_training_keeps_numbers():
    config = OnlineConfig(until=1e9, steps=50, max_epochs=2, random_steps=50, batch=8, episodes=1)
    stage = OnlineFit(find_task(CARTPOLE), replace(config, sac=SACConfig(hidden=(8,))), seed=0)
    state = stage.init(key=jr.key(0))
    for epoch in range(2):
        state, _ = stage.epoch(state, key=jr.key(epoch))
    dataset = stage.replay(state, "cartpole")
    assert dataset.discrete
    assert len(dataset) == 100
    assert set(dataset.stored["action"]) == {0, 1}


# Policies


def policy(**changes):
    given = {
        "weights": (np.array([[1.0, 0.0, -1.0]]),),
        "biases": (np.zeros(3),),
        "head": "categorical",
        "obs_mean": np.zeros(1),
        "obs_std": np.ones(1),
        "space": ActionSpace.numbered(3),
    }
    return Policy(**given | changes)


def test_a_policy_gives_the_likeliest_number_or_samples(tmp_path):
    plain = policy()
    assert plain.act(np.array([2.0])) == 0
    np.testing.assert_array_equal(plain.act(np.array([[2.0], [-2.0]])), [0, 2])
    drawn = plain.act(np.full((20_000, 1), 0.7), rng=np.random.default_rng(0))
    shares = np.bincount(drawn, minlength=3) / len(drawn)
    np.testing.assert_allclose(shares, softmax([0.7, 0.0, -0.7]), atol=0.015)
    plain.save(tmp_path / "policy.safetensors")
    assert Policy.load(tmp_path / "policy.safetensors").discrete


def test_a_policy_of_numbers_does_not_fit_an_environment_of_vectors():
    weights = (np.zeros((3, 1)),)
    odd = policy(
        weights=weights,
        biases=(np.zeros(1),),
        obs_mean=np.zeros(3),
        obs_std=np.ones(3),
        space=ActionSpace.numbered(1),
    )
    with pytest.raises(RunError, match="gives one of several actions, but Pendulum-v1 takes"):
        evaluate(odd, "Pendulum-v1", episodes=1)


# Losses


def agent(term=None):
    config = SACConfig(hidden=(8,), critic_norm=False)
    return SAC.make(config, 2, 3, updates=10, discrete=True, term=term, key=jr.key(0))


def batch(rows=6):
    rng = np.random.default_rng(1)
    obs, next_obs = rng.standard_normal((2, rows, 2)).astype(np.float32)
    action = np.eye(3, dtype=np.float32)[rng.integers(0, 3, rows)]
    ended = np.arange(rows) == 2
    return Transition(*map(jnp.asarray, (obs, action, rng.standard_normal(rows), next_obs, ended)))


def test_backup_is_the_exact_expectation():
    sac, steps = agent(), batch()
    sac = eqx.tree_at(lambda a: a.state.log_weight, sac, jnp.asarray(-0.5))
    ahead = np.asarray(steps.next_obs)
    log_p = log_softmax(mlp(sac.state.actor, ahead), axis=1)
    least = np.minimum(mlp(sac.state.targets, ahead, 0), mlp(sac.state.targets, ahead, 1))
    value = (np.exp(log_p) * (least - np.exp(-0.5) * log_p)).sum(axis=1)
    wanted = np.asarray(steps.reward) + 0.995 * np.where(steps.terminated, 0, value)
    np.testing.assert_allclose(sac.backup(steps, key=jr.key(0)), wanted, rtol=1e-4, atol=1e-5)


def test_the_soft_maximum_runs_over_every_action():
    term = Conservative.make(ConservativeConfig(weight=2.0, temperature=0.7, every=1))
    sac, steps = agent(term), batch()
    got, _ = term(sac.state.critics, sac, steps, key=jr.key(0))
    wanted, obs = 0.0, np.asarray(steps.obs)
    for critic in (0, 1):
        q = mlp(sac.state.critics, obs, critic)
        on_data = (q * np.asarray(steps.action)).sum(axis=1).mean()
        wanted += 2.0 * (0.7 * logsumexp(q / 0.7, axis=1).mean() - on_data)
    np.testing.assert_allclose(got, wanted, rtol=1e-4)


def test_cloning_is_the_cross_entropy():
    dataset = load(log())
    made = BC(hidden=(4,), epochs=1, updates=1).agent(dataset, key=jr.key(0))
    steps = Transition(*map(jnp.asarray, dataset.transitions()))
    logits = mlp(made.actor, np.asarray(made.standardizer(steps.obs)))
    wanted = -(log_softmax(logits, axis=1) * steps.action).sum(axis=1).mean()
    _, metrics = made.update(steps, key=jr.key(0))
    np.testing.assert_allclose(metrics["loss"], wanted, rtol=1e-4)
    np.testing.assert_array_equal(made.act(steps.obs, key=jr.key(0)).sum(axis=1), 1)


def test_categorical_draws_by_its_probabilities():
    dist = Categorical(jnp.log(jnp.array([0.2, 0.5, 0.3])))
    wide = Categorical(jnp.broadcast_to(dist.log_probs, (20_000, 3)))
    drawn, log_prob = wide.sample(key=jr.key(0))
    np.testing.assert_allclose(drawn.mean(axis=0), [0.2, 0.5, 0.3], atol=0.015)
    np.testing.assert_allclose(jnp.exp(log_prob[:5]), (drawn[:5] * jnp.exp(dist.log_probs)).sum(1))
    np.testing.assert_array_equal(dist.mode(), [0, 1, 0])


# Algorithms

# Verified codes and imitation by the data, which small runs leave out.
CODES = CodesConfig(bits=6, fit_epochs=1, fit_updates=9, follow="pairs")
OWN = {"count-morl": {"codes": CODES, "imitate": "auto"}}


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, cls in ALGORITHMS.items() if cls.takes_discrete])
def test_algorithms_learn_from_discrete_logs(tmp_path, name):
    config = small(name, **OWN.get(name, {}))
    run = train(config, log(), out=tmp_path / "run", options=OPTIONS, quiet=True)
    made = Policy.load(run.path)
    assert made.discrete
    assert made.action_dim == 3
    assert made.act(log()["obs"]).dtype.kind == "i"


def test_td3_bc_says_who_can(tmp_path):
    with pytest.raises(ConfigError, match=r"td3-bc needs actions that are vectors.*bc, cql"):
        train("td3-bc", log(), out=tmp_path / "run")


@pytest.mark.slow
def test_counts_of_numbers(tmp_path):
    config = small("count-morl", **OWN["count-morl"], counter="exact")
    rows = log()
    run = train(config, rows, out=tmp_path / "run", options=OPTIONS, quiet=True)
    query = load_query(run)
    by_number = query(rows["obs"], rows["action"])
    by_vector = query(rows["obs"], np.eye(3)[rows["action"]])
    np.testing.assert_array_equal(by_number.members, by_vector.members)
    # All but the model's hold-out rows and the episodes set aside were counted.
    assert (by_number.members >= 1).mean() > 0.7
    column = query(rows["obs"], rows["action"][:, None].astype(float))
    np.testing.assert_array_equal(by_number.members, column.members)
    for wrong in (3, -1, 0.5):
        with pytest.raises(DataError, match=f"numbers from 0 to 2, got {wrong}"):
            query(rows["obs"][:1], np.array([wrong]))


@pytest.mark.slow
def test_a_good_policy_is_learned_from_random_numbers(tmp_path):
    """On the line, the way to the reward is up, whatever the log did."""
    config = ALGORITHMS["cql"](
        epochs=4,
        updates=400,
        sac=SACConfig(hidden=(32,), actor_rate=3e-3),
    )
    run = train(config, log(2000), out=tmp_path / "run", options=OPTIONS, quiet=True)
    where = np.linspace(-0.9, 0.7, 9, dtype=np.float32)[:, None]
    assert (Policy.load(run.path).act(where) == 2).mean() > 0.8


# From the command line


@pytest.mark.slow
def test_a_log_of_numbers_from_collect_to_count(run_cli, tmp_path):
    small = ("--epochs", 1, "--updates", 2, "--model.max-epochs", 3, "--model.width", 32)
    # Fewer updates of the encoders leave some of them collapsed, by chance.
    codes = ("--codes.bits", 16, "--codes.fit-epochs", 1, "--codes.fit-updates", 200)
    assert run_cli("data", "collect", CARTPOLE, "log.hdf5", "--rows", 300)[0] == 0
    assert "one of 2" in run_cli("data", "info", "log.hdf5")[1]
    assert run_cli("data", "check", "log.hdf5")[0] == 0
    assert run_cli("data", "info", "log.hdf5", "--mode", "d4rl-exact", "--json")[0] == 0
    given = ("--out", "run", *small, *codes, "--branches", 10, "--eval-episodes", 1)
    assert run_cli("train", "count-morl", "log.hdf5", *given)[0] == 0
    assert run_cli("resume", "run")[0] == 0
    assert run_cli("evaluate", "run", "--episodes", 1)[0] == 0
    collected = run_cli("data", "collect", CARTPOLE, "more.npz", "--policy", "run", "--rows", 30)
    assert collected[0] == 0
    one_way = {"obs": np.zeros((5, 4), np.float32), "action": np.zeros(5, int)}
    np.savez(tmp_path / "one.npz", **one_way, reward=np.zeros(5))
    assert run_cli("count", "run", "one.npz")[0] == 0  # It never takes the last action.
    np.savez(
        tmp_path / "vectors.npz", obs=one_way["obs"], action=np.full((5, 2), 0.5), reward=[0] * 5
    )
    code, _, err = run_cli("count", "run", "vectors.npz")
    assert code == 2
    assert "has actions that are vectors, but the run was trained on discrete actions" in err
    code, _, err = run_cli("train", "cql", "log.hdf5", "--task", "Pendulum-v1", "--out", "other")
    assert code == 2
    assert "but Pendulum-v1 has 3 and 1" in err
    run_cli("data", "convert", "log.hdf5", "again.npz")
    assert load(tmp_path / "again.npz").hash == load(tmp_path / "log.hdf5").hash


def test_grid_world_logs_are_discrete(run_cli, tmp_path):
    assert run_cli("study", "log", "cliff", "cliff.npz", "--rows", 500)[0] == 0
    assert load(tmp_path / "cliff.npz").discrete
    assert run_cli("train", "tabular", "cliff.npz", "--out", "run")[0] == 0


def test_untaken_actions_stay_in_a_table():
    states = {"obs": np.zeros((300, 1)), "next_obs": np.ones((300, 1))}
    data = TabularData.of(load(log(action_count=np.array(5), **states)))
    assert data.actions == 5


def test_kinds_of_actions_hash_differently():
    numbers, low, high = load(log()), -np.ones(3), np.ones(3)
    vectors = load(log(action=numbers.action, action_low=low, action_high=high))
    assert not vectors.discrete
    assert numbers.hash != vectors.hash


def test_exact_counts_of_many_columns_and_values():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5000, (4000, 7)) / 1443.0  # Whole numbers, standardised.
    counter = ExactCounter.of(jnp.asarray(x, jnp.float32))
    assert len(counter.tables[0]) == len(np.unique(x, axis=0))
    nothing = jnp.zeros((1, 4000, 1))
    near = jnp.asarray(x * (1 + 1e-7), jnp.float32)
    assert (counter.counts(near, nothing) >= 1).all()
    assert (counter.counts(near.at[:, 0].add(0.5 / 1443), nothing) == 0).all()
