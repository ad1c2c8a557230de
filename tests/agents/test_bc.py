import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.algorithms.bc import BC
from countmorl.data.sources import load
from countmorl.types import Transition

KEY = jr.key(0)


@eqx.filter_jit
def update(agent, batch):
    return agent.update(batch, key=KEY)


@pytest.fixture
def agent(log):
    return BC(hidden=(8,), learning_rate=0.01).agent(load(log()), key=KEY)


@pytest.fixture
def batch(log):
    return Transition(*(jnp.asarray(field) for field in load(log()).transitions()))


def test_the_loss_is_the_mean_squared_error(agent, batch):
    _, metrics = update(agent, batch)
    error = np.asarray(agent.act(batch.obs, key=KEY)) - np.asarray(batch.action)
    assert float(metrics["loss"]) == pytest.approx(np.mean(error**2), rel=1e-5)


def test_one_step_of_adam_by_hand(agent, batch):
    """Adam's first step is the learning rate against the sign of the gradient.

    For the bias b of the last layer, d loss / d b = mean(2 (t - a) (1 - t^2)) over rows, divided
    by the number of action columns, with t = tanh(y).
    """
    output = np.asarray(agent.act(batch.obs, key=KEY), np.float64)
    slope = (2 * (output - np.asarray(batch.action)) * (1 - output**2)).mean(axis=0) / 2
    new, _ = update(agent, batch)
    moved = np.asarray(new.actor.biases[-1] - agent.actor.biases[-1])
    assert (np.abs(slope) > 1e-4).all()
    np.testing.assert_allclose(moved, -0.01 * np.sign(slope), rtol=1e-3)


def test_updates_lower_the_loss(agent, batch):
    losses = []
    for _ in range(40):
        agent, metrics = update(agent, batch)
        losses.append(float(metrics["loss"]))
    assert losses[-1] < 0.8 * losses[0]


def test_an_update_changes_neither_the_old_agent_nor_the_standardizer(agent, batch):
    before = np.asarray(agent.actor.weights[0]).copy()
    new, _ = update(agent, batch)
    np.testing.assert_array_equal(agent.actor.weights[0], before)
    assert not np.array_equal(new.actor.weights[0], before)
    np.testing.assert_array_equal(new.standardizer.mean, agent.standardizer.mean)


def test_actions_lie_within_one_for_a_row_and_for_a_batch(agent):
    obs = jnp.asarray(np.random.default_rng(0).normal(0, 100, (50, 3)), jnp.float32)
    actions = agent.act(obs, key=KEY)
    assert actions.shape == (50, 2)
    assert float(jnp.abs(actions).max()) <= 1
    np.testing.assert_allclose(agent.act(obs[3], key=KEY), actions[3], atol=1e-6)


def test_it_acts_without_chance(agent, batch):
    one, two = agent.act(batch.obs, key=jr.key(1)), agent.act(batch.obs, key=jr.key(2))
    np.testing.assert_array_equal(one, two)


def test_observations_are_standardised(log):
    dataset = load(log() | {"observations": log()["observations"] * 1000 + 5})
    agent = BC(hidden=(8,)).agent(dataset, key=KEY)
    np.testing.assert_allclose(agent.standardizer.mean, dataset.obs.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(agent.standardizer.std, dataset.obs.std(axis=0), rtol=1e-4)
