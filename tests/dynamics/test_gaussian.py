import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.dynamics.gaussian import GaussianNet

DECAYS = (0.1, 0.2, 0.3, 0.4, 0.5)


def softplus(x):
    return np.log1p(np.exp(x))


def forward(net, x):
    for index, (weight, bias) in enumerate(zip(net.weights[:-1], net.biases[:-1], strict=True)):
        z = x @ np.asarray(weight) + np.asarray(bias)
        if net.gains is not None:
            z = (z - z.mean(axis=-1, keepdims=True)) / np.sqrt(z.var(axis=-1, keepdims=True) + 1e-5)
            z = np.asarray(net.gains[index]) * z
        x = z / (1 + np.exp(-z))
    out = x @ np.asarray(net.weights[-1]) + np.asarray(net.biases[-1])
    mean, log_var = np.split(out, 2, axis=-1)
    log_var = np.asarray(net.log_var_max) - softplus(np.asarray(net.log_var_max) - log_var)
    return mean, np.asarray(net.log_var_min) + softplus(log_var - np.asarray(net.log_var_min))


@pytest.mark.parametrize("norm", [False, True])
def test_loss_against_numpy(norm):
    net = GaussianNet.make((3, 8, 8, 8, 8, 2), norm=norm, key=jr.key(0))
    if norm:  # Gains and biases as they may be after some steps.
        gains, biases = (
            tuple(jr.normal(jr.fold_in(jr.key(at), i), (8,)) for i in range(4)) for at in (3, 4)
        )
        whole = (gains, (*biases, net.biases[-1]))
        net = eqx.tree_at(lambda n: (n.gains, n.biases), net, whole)
    x, y = np.array(jr.normal(jr.key(1), (6, 3))), np.array(jr.normal(jr.key(2), (6, 2)))
    mean, log_var = forward(net, x)
    fit = np.mean((mean - y) ** 2 * np.exp(-log_var)) + np.mean(log_var)
    decay = sum(0.5 * d * np.sum(np.square(w)) for d, w in zip(DECAYS, net.weights, strict=True))
    bounds = 0.01 * (0.5 + 10.0)
    got = net.loss(jnp.asarray(x), jnp.asarray(y), DECAYS)
    np.testing.assert_allclose(got, fit + decay + bounds, rtol=1e-5)


def test_log_variance_stays_between_its_soft_bounds():
    net = GaussianNet.make((3, 8, 8, 8, 8, 2), key=jr.key(0))
    _, log_var = net.head(1e4 * jr.normal(jr.key(1), (50, 8)))
    assert log_var.max() <= 0.5 + 1e-4
    assert log_var.min() >= -10 - 1e-3


def test_start_weights_have_the_known_deviation():
    net = GaussianNet.make((400, 300, 300, 300, 300, 2), key=jr.key(0))
    # A normal truncated at two deviations has 0.8796 of its deviation.
    np.testing.assert_allclose(np.std(net.weights[0]), 0.8796 / (2 * 20), rtol=0.02)
    assert not any(np.asarray(bias).any() for bias in net.biases)


def test_normalising_draws_the_same_weights_and_adds_gains_alone():
    sizes = (3, 8, 8, 8, 8, 2)
    plain, norm = (GaussianNet.make(sizes, norm=norm, key=jr.key(0)) for norm in (False, True))
    assert plain.gains is None
    assert [gain.tolist() for gain in norm.gains] == [[1.0] * 8] * 4
    assert eqx.tree_equal(eqx.tree_at(lambda n: n.gains, norm, None), plain)


def test_normalised_layers_do_not_grow_with_their_inputs():
    net = GaussianNet.make((3, 8, 8, 8, 8, 2), norm=True, key=jr.key(0))
    x = 1000 * jr.normal(jr.key(1), (20, 3))
    # Of eight numbers with mean 0 and variance 1 none exceeds the root of seven.
    assert float(net.trunk(x).max()) <= 7**0.5
    assert float(net.representation(x).max()) <= 7**0.5
    assert float(GaussianNet.make((3, 8, 8, 8, 8, 2), key=jr.key(0)).trunk(x).max()) > 7
