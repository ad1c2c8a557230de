"""TD3+BC against NumPy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.agents.td3 import TD3BC, TD3Config
from countmorl.data.standardizer import Standardizer
from countmorl.errors import ConfigError
from countmorl.types import Transition

MEAN, STD = np.array([1.0, -2.0, 0.5], np.float32), np.array([2.0, 0.5, 1.0], np.float32)


@eqx.filter_jit
def agent():
    scale = Standardizer(jnp.asarray(MEAN), jnp.asarray(STD))
    return TD3BC.make(TD3Config(hidden=(8, 8)), scale, 3, 2, alpha=2.5, key=jr.key(0))


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


def net(mlp, x, member=None):
    pick = (lambda a: np.asarray(a)) if member is None else (lambda a: np.asarray(a)[member])
    for weight, bias in zip(mlp.weights[:-1], mlp.biases[:-1], strict=True):
        x = np.maximum(x @ pick(weight) + pick(bias), 0)
    return x @ pick(mlp.weights[-1]) + pick(mlp.biases[-1])


def test_backup_against_numpy():
    td3, steps = agent(), batch()
    state, scaled = td3.state, (np.asarray(steps.next_obs) - MEAN) / STD
    noise = np.clip(0.2 * np.asarray(jr.normal(jr.key(2), (6, 2))), -0.5, 0.5)
    action = np.clip(np.tanh(net(state.actor_target, scaled)) + noise, -1, 1)
    x = np.concatenate([scaled, action], axis=1)
    q = np.minimum(*(net(state.critic_targets, x, i)[:, 0] for i in range(2)))
    y = td3.backup(steps._replace(next_obs=jnp.asarray(scaled)), key=jr.key(2))
    np.testing.assert_allclose(y, np.asarray(steps.reward) + 0.995 * q, rtol=1e-4, atol=1e-5)
    ended = td3.backup(batch(terminated=True), key=jr.key(2))
    np.testing.assert_allclose(ended, steps.reward)


def test_actor_loss_against_numpy():
    td3, steps = agent(), batch()
    action = np.tanh(net(td3.state.actor, np.asarray(steps.obs)))
    x = np.concatenate([steps.obs, action], axis=1)
    q = net(td3.state.critics, x, 0)[:, 0]  # The first critic alone.
    weight = 2.5 / np.abs(q).mean()
    wanted = -weight * q.mean() + np.square(action - np.asarray(steps.action)).mean()
    loss = td3.actor_loss(td3.state.actor, td3.state.critics, steps)
    np.testing.assert_allclose(loss, wanted, rtol=1e-4)


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
    for old, new, critic in zip(
        *map(
            jax.tree.leaves,
            (first.state.critic_targets, third.state.critic_targets, third.state.critics),
        ),
        strict=True,
    ):
        np.testing.assert_allclose(new, 0.995 * old + 0.005 * critic, atol=1e-6)


def test_the_policy_sees_standardised_observations():
    td3, obs = agent(), batch().obs
    wanted = np.tanh(net(td3.state.actor, (np.asarray(obs) - MEAN) / STD))
    np.testing.assert_allclose(td3.act(obs, key=jr.key(0)), wanted, rtol=1e-4, atol=1e-5)
    assert (np.asarray(td3.network()["obs_mean"]) == MEAN).all()


def test_the_policy_that_is_judged_is_an_average_of_the_actor_steps():
    td3, steps, path = agent(), batch(), []
    for i in range(6):
        td3, _ = update(td3, steps, jr.key(i))
        path.append(np.asarray(td3.state.actor.weights[0]))
    first, second, third = path[1::2]  # One actor step in two.
    average = first + (second - first) / 1.1
    average += (third - average) / 1.2
    np.testing.assert_allclose(td3.network()["weights"][0], average, rtol=1e-5, atol=1e-7)
    assert not np.allclose(average, third, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "wrong", [{"average_share": -0.1}, {"delay": 0}, {"discount": 1.0}, {"polyak": 0.0}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        TD3Config(**wrong)
