import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.counting.codes import Autoencoder, encoder_sizes
from countmorl.scaling import Standardizer


def test_layer_sizes_are_the_papers():
    assert encoder_sizes(32, 200, 14) == ((200, 100, 50, 32), (32, 50, 100, 100, 14))
    assert encoder_sizes(50, 200, 14) == ((200, 100, 100, 50), (50, 100, 100, 14))


def test_bits_are_the_rounded_sigmoid_of_the_bottleneck():
    coder = Autoencoder.make(Standardizer.identity(8), 5, 8, 3, key=jr.key(0))
    hidden = jr.normal(jr.key(1), (40, 8))
    sigmoid = 1 / (1 + np.exp(-np.asarray(coder.logits(hidden))))
    np.testing.assert_array_equal(coder.bits(hidden), np.round(sigmoid) == 1)


def test_loss_is_the_mean_squared_error_of_the_reconstruction():
    coder = Autoencoder.make(Standardizer.identity(8), 5, 8, 3, key=jr.key(0))
    hidden, target = jr.normal(jr.key(1), (4, 8)), jnp.ones((4, 3))
    code = 1 / (1 + jnp.exp(-coder.logits(hidden)))
    apart = (np.asarray(coder.decoder(code)) - 1) ** 2
    every, even = jnp.ones((1, 5)), jnp.ones(3)
    loss = coder.loss(hidden, target, jnp.zeros((1, 5)), every, even)
    np.testing.assert_allclose(loss, np.mean(apart), rtol=1e-5)
    # The second column alone, and the others never mind.
    loss = coder.loss(hidden, target, jnp.zeros((1, 5)), every, jnp.array([0.0, 3.0, 0.0]))
    np.testing.assert_allclose(loss, np.mean(apart[:, 1]), rtol=1e-5)


def test_a_code_that_is_cut_is_as_if_the_other_bits_never_reached_the_decoder():
    make = lambda key: Autoencoder.make(Standardizer.identity(8), 5, 8, 3, key=key)  # noqa: E731
    coders = jax.vmap(make)(jr.split(jr.key(0), 2))
    hidden, target = jr.normal(jr.key(1), (2, 4, 8)), jnp.ones((4, 3))
    cut, first = coders.first(2), jnp.array([[1.0, 1.0, 0.0, 0.0, 0.0]])
    bits = jax.vmap(Autoencoder.bits)(coders, hidden)
    np.testing.assert_array_equal(jax.vmap(Autoencoder.bits)(cut, hidden), bits[..., :2])
    whole = jax.vmap(Autoencoder.loss, (0, 0, None, None, None, None))
    losses = whole(coders, hidden, target, jnp.zeros((1, 5)), first, jnp.ones(3))
    errors = jax.vmap(Autoencoder.error, (0, 0, None))(cut, hidden, target)
    np.testing.assert_allclose(losses, errors.mean(axis=1), rtol=1e-5)


def test_the_error_of_a_rebuilt_pair_by_hand():
    coder = Autoencoder.make(Standardizer.identity(3), 2, 3, 2, key=jr.key(0))
    coder = eqx.tree_at(lambda c: c.decoder, coder, jax.tree.map(jnp.zeros_like, coder.decoder))
    # A decoder that always answers (0, 0): the mean square of the pair itself.
    error = coder.error(jnp.ones((2, 3)), jnp.array([[1.0, 3.0], [0.0, 0.0]]))
    np.testing.assert_allclose(error, [5.0, 0.0])
