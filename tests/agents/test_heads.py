import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.agents.heads import CategoricalHead, TanhHead, pair_value, q_values
from countmorl.nets import MLP
from oracles import mlp

OBS = jr.normal(jr.key(0), (5, 3))


def critics(sizes):
    return jax.vmap(lambda key: MLP.make(sizes, key=key))(jr.split(jr.key(1)))


def test_sizes_and_entropies():
    assert TanhHead().sizes(3, 2) == (4, 5, 1)
    assert CategoricalHead().sizes(3, 4) == (4, 3, 4)
    assert TanhHead().target_entropy(2) == -2.0
    assert CategoricalHead().target_entropy(4) == 0.5 * math.log(4)


def test_values_of_vectors_are_of_pairs():
    head, nets, action = TanhHead(), critics((5, 8, 1)), jnp.tanh(jr.normal(jr.key(2), (5, 2)))
    pairs = np.concatenate([OBS, action], axis=1)
    wanted = np.stack([mlp(nets, pairs, member)[:, 0] for member in (0, 1)])
    np.testing.assert_allclose(head.q(nets, OBS, action), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(q_values(nets, OBS, action), wanted, rtol=1e-5, atol=1e-6)
    one = jax.tree.map(lambda leaf: leaf[0], nets)
    np.testing.assert_allclose(pair_value(one, OBS, action), wanted[0], rtol=1e-5, atol=1e-6)
    assert head.all_values(nets, OBS) is None


def test_the_own_value_of_numbers_is_an_exact_expectation():
    head, nets = CategoricalHead(), critics((3, 8, 4))
    policy = head.distribution(jr.normal(jr.key(3), (5, 4)))
    value, log_prob = head.own_value(policy, nets, OBS, key=jr.key(9))
    chance = np.exp(policy.log_probs)
    least = np.minimum(mlp(nets, np.asarray(OBS), 0), mlp(nets, np.asarray(OBS), 1))
    np.testing.assert_allclose(value, (chance * least).sum(axis=1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(log_prob, (chance * policy.log_probs).sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(chance.sum(axis=1), 1, rtol=1e-5)
    every = head.all_values(nets, OBS)
    hot = jnp.eye(4)[jnp.array([0, 1, 2, 3, 0])]
    np.testing.assert_allclose(
        head.q(nets, OBS, hot), np.asarray(every)[[0, 1, 2, 3, 0], :, np.arange(5)].T, rtol=1e-5
    )


def test_the_own_value_of_vectors_is_the_least_of_one_draw():
    head, nets = TanhHead(), critics((5, 8, 1))
    policy = head.distribution(jr.normal(jr.key(3), (5, 4)))
    value, log_prob = head.own_value(policy, nets, OBS, key=jr.key(9))
    action, density = policy.sample(key=jr.key(9))
    np.testing.assert_allclose(value, np.asarray(head.q(nets, OBS, action)).min(axis=0), rtol=1e-5)
    np.testing.assert_allclose(log_prob, density, rtol=1e-5)


def test_how_far_a_policy_is_from_given_actions():
    policy = TanhHead().distribution(jnp.array([[0.5, -1.0, -3.0, 2.0]]))
    far = (np.tanh(0.5) - 0.2) ** 2 + (np.tanh(-1.0) - 0.4) ** 2  # Whatever the deviations are.
    np.testing.assert_allclose(TanhHead().apart(policy, jnp.array([[0.2, 0.4]])), [far], rtol=1e-5)
    numbers = CategoricalHead().distribution(jnp.log(jnp.array([[1.0, 2.0, 5.0]])))
    hot = jnp.array([[0.0, 1.0, 0.0]])
    np.testing.assert_allclose(CategoricalHead().apart(numbers, hot), [np.log(4)], rtol=1e-5)
