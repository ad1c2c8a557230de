import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import stats

from countmorl.agents.heads import q_values
from countmorl.algorithms.adversary import (
    Adversary,
    AdversaryConfig,
    mixture_log_prob,
    without_explosions,
)
from countmorl.buffer import RingBuffer
from countmorl.training.epoch import Frozen, Imagination, PolicyState, imagine
from models import ACTION, OBS, agent, members, model, steps


def test_the_mixture_of_elites_against_scipy():
    pair, drawn = jr.normal(jr.key(3), (5, 3)), jr.normal(jr.key(4), (5, 3))
    chosen = jax.tree.map(lambda leaf: leaf[jnp.array([2, 0])], members())
    density = np.zeros(5)
    for k in range(2):
        one = jax.tree.map(lambda leaf: leaf[k], chosen)  # noqa: B023
        mean, log_var = map(np.asarray, one.head(one.trunk(pair)))
        density += stats.norm(mean, np.exp(log_var / 2)).pdf(drawn).prod(axis=1) / 2
    np.testing.assert_allclose(mixture_log_prob(chosen, pair, drawn), np.log(density), rtol=1e-4)


def adversary(weight, step_count=30, decays=(0.0,) * 5):
    x, y = jr.normal(jr.key(5), (50, 3)), jr.normal(jr.key(6), (50, 3))
    config = AdversaryConfig(weight=weight, steps=step_count, batch=16, rate=1e-2)
    return Adversary(x, y, config, decays, 2)


def test_the_adversarys_loss_is_the_fit_of_the_data_and_the_gain_on_what_was_drawn():
    enemy = adversary(0.5, decays=(0.0, 0.1, 0.0, 0.0, 0.2))
    elites = members(2)
    rows = jnp.array([[0, 1, 2], [7, 8, 9]])
    pair, drawn = jr.normal(jr.key(3), (4, 3)), jr.normal(jr.key(4), (4, 3))
    gain = jnp.array([1.0, -2.0, 0.0, 0.5])
    loss, facts = enemy.loss(elites, rows, pair, drawn, gain)
    fit, density = 0.0, np.zeros(4)
    for k in range(2):
        one = jax.tree.map(lambda leaf: leaf[k], elites)  # noqa: B023
        mean, log_var = map(np.asarray, one.head(one.trunk(enemy.x[rows[k]])))
        error = np.square(mean - np.asarray(enemy.y)[rows[k]])
        fit += np.mean(error * np.exp(-log_var)) + log_var.mean()
        fit += sum(
            0.5 * decay * np.square(one.weights[layer]).sum()
            for layer, decay in ((1, 0.1), (4, 0.2))
        )
        fit += 0.01 * np.mean(one.log_var_max - one.log_var_min)
        mean, log_var = map(np.asarray, one.head(one.trunk(pair)))
        density += stats.norm(mean, np.exp(log_var / 2)).pdf(drawn).prod(axis=1) / 2
    against = np.mean(np.asarray(gain) * np.log(density))
    np.testing.assert_allclose(loss, fit + 0.5 * against, rtol=1e-4)
    np.testing.assert_allclose(facts["adversary"], against, rtol=1e-4)


def test_one_exploded_step_does_not_spoil_the_model():
    lived = steps()._replace(next_obs=steps().next_obs.at[1, 0].set(jnp.inf))
    mended, fine = without_explosions(lived)
    assert fine.tolist() == [True, False, True, True, True, True]
    assert jnp.isfinite(mended.next_obs).all()
    assert mended.reward[1] == 0
    # Members that take every observation to infinity: the adversary's step stays a number.
    wild = eqx.tree_at(lambda m: m.ensemble.members.biases[-1], model(), jnp.full((3, 6), 1e38))
    enemy = adversary(1.0, 4)
    update = eqx.filter_jit(lambda a, w: a.update(w, wild, agent(), steps(20).obs, key=jr.key(7)))
    turned = eqx.tree_at(lambda w: w.elites, enemy.start(model()), members(2))
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(update(enemy, turned)[0]))


@pytest.mark.slow
def test_the_adversary_makes_the_policy_worth_less_in_the_model():
    obs, base, sac = steps(20).obs, model(), agent()
    update = eqx.filter_jit(lambda a, w: a.update(w, base, sac, obs, key=jr.key(7)))
    starts = jr.normal(jr.key(8), (1000, OBS))

    @eqx.filter_jit
    def worth(turned):
        lived, _ = turned.inside(base).step(starts, sac.act(starts, key=jr.key(9)), key=jr.key(10))
        action = sac.distribution(sac.state.actor, lived.next_obs).mode()
        after = q_values(sac.state.critics, lived.next_obs, action).min(axis=0)
        return jnp.mean(lived.reward + 0.99 * after)

    values = {}
    for weight in (0.0, 1.0):
        enemy = adversary(weight, 100)
        values[weight] = float(worth(update(enemy, enemy.start(base))[0]))
    assert values[1.0] < values[0.0] - 0.1


def test_only_elites_change_and_take_the_place_of_the_elites():
    base, enemy = model(), adversary(1.0, 1)
    turned = enemy.start(base)
    x = jr.normal(jr.key(3), (5, 3))
    hidden = jax.jit(lambda m: m.ensemble.trunks(x))
    np.testing.assert_array_equal(hidden(turned.inside(base)), hidden(base))
    weights = np.asarray(base.ensemble.members.weights[0])
    np.testing.assert_array_equal(turned.elites.weights[0], weights[[2, 0]])
    update = eqx.filter_jit(lambda a, w: a.update(w, base, agent(), steps(20).obs, key=jr.key(7)))
    after, _ = update(enemy, turned)
    changed = after.inside(base).ensemble
    assert len(changed.elites) == len(changed.holdout_error) == 2
    for k in range(2):
        assert (np.asarray(changed.members.weights[0])[k] != weights[[2, 0]][k]).any()


@pytest.mark.slow
def test_rollouts_happen_in_the_model_as_the_adversary_left_it():
    base, enemy, sac = model(), adversary(1.0, 1), agent()
    plan = Imagination(base, horizon=2, branches=8, rows=4, adversary=enemy)
    frozen = Frozen(steps(20), updates=1, batch=8, imagination=plan)
    buffer, turned = RingBuffer.empty(1, 16, OBS, ACTION), enemy.start(base)
    far = turned.elites.biases[-1].at[:, :OBS].add(100.0)
    turned = eqx.tree_at(lambda w: w.elites.biases[-1], turned, far)
    dreamt, _ = imagine(frozen, PolicyState(sac, buffer, turned), key=jr.key(0))
    assert (dreamt.data.next_obs - dreamt.data.obs > 50).all()
    calm, _ = imagine(frozen, PolicyState(sac, buffer, None), key=jr.key(0))
    assert (calm.data.next_obs - calm.data.obs < 50).all()
