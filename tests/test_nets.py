import functools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.nets import ACTIVATIONS, MLP

TWO_LAYERS = MLP(
    weights=(jnp.array([[1.0, -1.0]]), jnp.array([[2.0], [3.0]])),
    biases=(jnp.array([0.5, 0.5]), jnp.array([-1.0])),
    activation="relu",
)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        # relu(2 + 0.5) = 2.5 and relu(-2 + 0.5) = 0: 2.5 * 2 - 1.
        (2.0, 4.0),
        # relu(-2 + 0.5) = 0 and relu(2 + 0.5) = 2.5: 2.5 * 3 - 1.
        (-2.0, 6.5),
        # 0.5 and 0.5: 1 + 1.5 - 1.
        (0.0, 1.5),
    ],
)
def test_by_hand(x, y):
    assert TWO_LAYERS(jnp.array([x])).tolist() == [y]


def test_any_batch_is_mapped_row_by_row():
    x = jnp.array([[[2.0], [-2.0]], [[0.0], [2.0]]])
    assert TWO_LAYERS(x).tolist() == [[[4], [6.5]], [[1.5], [4]]]


@pytest.mark.parametrize(
    ("name", "value"), [("relu", 0), ("swish", -1 / (1 + np.e)), ("tanh", np.tanh(-1))]
)
def test_activations_at_minus_one(name, value):
    np.testing.assert_allclose(ACTIVATIONS[name](jnp.float32(-1)), value, rtol=1e-6)


def test_the_activation_is_used_between_layers_alone():
    net = MLP((jnp.ones((1, 1)), jnp.ones((1, 1))), (jnp.zeros(1), jnp.zeros(1)), "tanh")
    np.testing.assert_allclose(net(jnp.array([2.0])), [np.tanh(2)], rtol=1e-6)


def test_normalised_layers_by_hand():
    # 4 and 0 have mean 2 and deviation 2: they become 1 and -1, and relu leaves 1 and 0.
    weights = (jnp.array([[4.0, 0.0]]), jnp.array([[5.0], [7.0]]))
    net = MLP(weights, (jnp.zeros(2), jnp.zeros(1)), "relu", norm=True)
    np.testing.assert_allclose(net(jnp.array([1.0])), [5.0], rtol=1e-5)


@functools.cache
def maker(sizes):
    return jax.jit(lambda key: MLP.make(sizes, key=key))


def make(*sizes, seed=0):
    return maker(sizes)(jr.key(seed))


def test_weights_are_drawn_within_one_over_the_root_of_the_inputs():
    net = make(16, 100, 3)
    assert [w.shape for w in net.weights] == [(16, 100), (100, 3)]
    assert [b.shape for b in net.biases] == [(100,), (3,)]
    for layer, bound in enumerate((0.25, 0.1)):
        values = np.concatenate([net.weights[layer].ravel(), net.biases[layer]])
        assert np.abs(values).max() <= bound
        assert np.abs(values).max() > 0.95 * bound
        assert abs(values.mean()) < 0.1 * bound


def test_the_same_key_gives_the_same_weights_and_layers_differ():
    one, two = make(4, 4, 4), make(4, 4, 4)
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True):
        np.testing.assert_array_equal(left, right)
    assert not np.array_equal(one.weights[0], one.weights[1])
    assert not np.array_equal(one.weights[0], make(4, 4, 4, seed=1).weights[0])
