"""TD3+BC against NumPy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.agents.heads import q_values
from countmorl.agents.td3 import TD3BC, TD3Config
from countmorl.errors import ConfigError
from countmorl.scaling import Standardizer
from countmorl.types import Transition
from models import policy_of
from oracles import mlp

MEAN, STD = np.array([1.0, -2.0, 0.5], np.float32), np.array([2.0, 0.5, 1.0], np.float32)


@eqx.filter_jit
def agent():
    scale = Standardizer(jnp.asarray(MEAN), jnp.asarray(STD))
    return TD3BC.make(TD3Config(hidden=(8, 8)), scale, 3, 2, value_weight=2.5, key=jr.key(0))


@eqx.filter_jit
def batch(terminated=False):
    k = jr.split(jr.key(1), 4)
    return Transition(
        jr.normal(k[0], (6, 3)),
        jnp.tanh(jr.normal(k[1], (6, 2))),
        jr.normal(k[2], (6,)),
        jr.normal(k[3], (6, 3)),
        jnp.full(6, terminated),
    )


@eqx.filter_jit
def update(sac, steps, key):
    return sac.update(steps, key=key)


def test_backup_against_numpy():
    td3, steps = agent(), batch()
    state, scaled = td3.state, (np.asarray(steps.next_obs) - MEAN) / STD
    noise = np.clip(0.2 * np.asarray(jr.normal(jr.key(2), (6, 2))), -0.5, 0.5)
    action = np.clip(np.tanh(mlp(state.actor_target, scaled)) + noise, -1, 1)
    x = np.concatenate([scaled, action], axis=1)
    q = np.minimum(*(mlp(state.critic_targets, x, i)[:, 0] for i in range(2)))
    y = td3.backup(steps._replace(next_obs=jnp.asarray(scaled)), key=jr.key(2))
    np.testing.assert_allclose(y, np.asarray(steps.reward) + 0.995 * q, rtol=1e-4, atol=1e-5)
    ended = td3.backup(batch(terminated=True), key=jr.key(2))
    np.testing.assert_allclose(ended, steps.reward)


def test_actor_loss_against_numpy():
    td3, steps = agent(), batch()
    action = np.tanh(mlp(td3.state.actor, np.asarray(steps.obs)))
    x = np.concatenate([steps.obs, action], axis=1)
    q = mlp(td3.state.critics, x, 0)[:, 0]  # The first critic alone.
    weight = 2.5 / np.abs(q).mean()
    wanted = -weight * q.mean() + np.square(action - np.asarray(steps.action)).mean()
    loss = td3.actor_loss(td3.state.actor, td3.state.critics, steps)
    np.testing.assert_allclose(loss, wanted, rtol=1e-4)


def test_critic_loss_against_numpy_on_standardised_observations():
    td3, steps = agent(), batch()
    _, metrics = update(td3, steps, jr.key(4))
    scaled = steps._replace(
        obs=(np.asarray(steps.obs) - MEAN) / STD,
        next_obs=jnp.asarray((np.asarray(steps.next_obs) - MEAN) / STD),
    )
    y = np.asarray(td3.backup(scaled, key=jr.key(4)))
    x = np.concatenate([scaled.obs, steps.action], axis=1)
    q = np.stack([mlp(td3.state.critics, x, i)[:, 0] for i in range(2)])
    np.testing.assert_allclose(metrics["critic_loss"], np.square(q - y).mean(1).sum(), rtol=1e-4)
    np.testing.assert_allclose(metrics["q"], q.mean(), rtol=1e-4, atol=1e-6)


def test_lambda_is_a_constant_of_the_batch():
    td3, steps = agent(), batch()
    slope = jax.grad(td3.actor_loss)(td3.state.actor, td3.state.critics, steps)

    def by_hand(actor):
        action = jnp.tanh(actor(steps.obs))
        q = q_values(td3.state.critics, steps.obs, action)[0]
        return -weight * q.mean() + jnp.mean(jnp.square(action - steps.action))

    action = jnp.tanh(td3.state.actor(steps.obs))
    weight = 2.5 / np.abs(q_values(td3.state.critics, steps.obs, action)[0]).mean()
    wanted = jax.grad(by_hand)(td3.state.actor)
    for a, b in zip(*map(jax.tree.leaves, (slope, wanted)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_actor_and_targets_move_at_every_second_step_only():
    first, steps = agent(), batch()
    second, _ = update(first, steps, jr.key(1))
    third, _ = update(second, steps, jr.key(2))

    def same(a, b):
        return all((x == y).all() for x, y in zip(*map(jax.tree.leaves, (a, b)), strict=True))

    assert not same(first.state.critics, second.state.critics)
    assert same(first.state.actor, second.state.actor)
    assert same(first.state.critic_targets, second.state.critic_targets)
    assert not same(second.state.actor, third.state.actor)
    for target, net in (("critic_targets", "critics"), ("actor_target", "actor")):
        parts = (
            getattr(first.state, target),
            getattr(third.state, target),
            getattr(third.state, net),
        )
        for old, new, moved in zip(*map(jax.tree.leaves, parts), strict=True):
            np.testing.assert_allclose(new, 0.995 * old + 0.005 * moved, atol=1e-6)


def test_the_policy_sees_standardised_observations():
    td3, obs = agent(), batch().obs
    wanted = np.tanh(mlp(td3.state.actor, (np.asarray(obs) - MEAN) / STD))
    np.testing.assert_allclose(td3.act(obs, key=jr.key(0)), wanted, rtol=1e-4, atol=1e-5)
    assert (policy_of(td3).obs_mean == MEAN).all()


def test_the_policy_that_is_judged_is_an_average_of_the_actor_steps():
    td3, steps, path = agent(), batch(), []
    for i in range(6):
        td3, _ = update(td3, steps, jr.key(i))
        path.append(np.asarray(td3.state.actor.weights[0]))
    first, second, third = path[1::2]  # One actor step in two.
    average = first + (second - first) / 1.1
    average += (third - average) / 1.2
    np.testing.assert_allclose(policy_of(td3).weights[0], average, rtol=1e-5, atol=1e-7)
    assert not np.allclose(average, third, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "wrong", [{"average_share": -0.1}, {"delay": 0}, {"discount": 1.0}, {"polyak": 0.0}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        TD3Config(**wrong)
