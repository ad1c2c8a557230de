import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.algorithms.balance import Balance
from countmorl.scaling import Standardizer
from models import agent, members, steps


def test_the_balance_is_the_distance_of_mean_features():
    data, sac = steps(6), agent()
    term = Balance(data, Standardizer.identity(3), sac, 0.5, 0.9, 4)
    value = float(term(members(), key=jr.key(8)))
    row_key, first_key, next_key = jr.split(jr.key(8), 3)
    rows = np.asarray(jr.randint(row_key, (2, 4), 0, 6))
    step = jax.tree.map(lambda leaf: np.asarray(leaf)[rows[0]], data)
    first = np.asarray(data.obs)[rows[1]]
    after = sac.act(jnp.asarray(step.next_obs), key=next_key)
    start = sac.act(jnp.asarray(first), key=first_key)
    mask = 1.0 - step.terminated[:, None]
    total = 0.0
    for i in range(3):
        one = jax.tree.map(lambda leaf: leaf[i], members())  # noqa: B023

        def phi(obs, action, one=one):
            return np.asarray(one.representation(jnp.concatenate([obs, action], axis=1)))

        gap = (
            phi(step.obs, step.action).mean(axis=0)
            - 0.9 * (mask * phi(step.next_obs, after)).mean(axis=0)
            - 0.1 * phi(first, start).mean(axis=0)
        )
        total += 0.5 * np.square(gap).sum()
    np.testing.assert_allclose(value, total, rtol=1e-3)


def test_the_balance_at_every_other_step_weighs_twice():
    terms = {
        n: Balance(steps(6), Standardizer.identity(3), agent(), 0.5, 0.9, 4, every=n)
        for n in (1, 2)
    }
    at = eqx.filter_jit(lambda term, step: term.at(step, members(), key=jr.key(8)))
    plain = [float(at(terms[1], jnp.asarray(step))) for step in range(4)]
    assert len(set(plain)) == 4  # Each step has rows of its own.
    wanted = [2 * plain[0], 0, 2 * plain[2], 0]
    np.testing.assert_allclose([at(terms[2], jnp.asarray(i)) for i in range(4)], wanted, rtol=1e-5)
    slope = jax.grad(lambda m: terms[2].at(jnp.asarray(0), m, key=jr.key(8)))(members())
    assert any(jnp.abs(leaf).max() > 0 for leaf in slope.weights)
