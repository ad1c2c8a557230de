import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.counting import fit
from countmorl.counting.fit import CodesConfig, collapsed, encode, quality
from countmorl.counting.table import CountTable, pack
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.errors import ConfigError
from countmorl.scaling import Standardizer


def small_ensemble(members=2, inputs=3, targets=3, width=16):
    sizes = (inputs, width, width, width, width, targets)
    nets = jax.vmap(lambda k: GaussianNet.make(sizes, key=k))(jr.split(jr.key(0), members))
    return Ensemble(nets, Standardizer.identity(inputs), jnp.arange(members), jnp.zeros(members))


def test_encoders_learn_and_the_model_is_untouched():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (300, 3))
    before = [np.asarray(leaf).copy() for leaf in jax.tree.leaves(ensemble)]
    config = CodesConfig(bits=6, fit_updates=150, fit_batch=64)
    state = fit.start(fit.feature_scales(ensemble, x), 3, 6, config, key=jr.key(2))
    state, first = fit.fit_epoch((ensemble, x, config), state, jr.key(3))
    state, last = fit.fit_epoch((ensemble, x, config), state, jr.key(4))
    assert last["loss"] < 0.7 * first["loss"]
    for old, new in zip(before, jax.tree.leaves(ensemble), strict=True):
        np.testing.assert_array_equal(old, new)


def test_noise_drives_the_bottleneck_to_its_ends():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (300, 3))

    def indecision(noise):
        config = CodesConfig(bits=6, fit_updates=300, fit_batch=64, fit_noise=noise)
        state = fit.start(fit.feature_scales(ensemble, x), 3, 6, config, key=jr.key(2))
        state, _ = fit.fit_epoch((ensemble, x, config), state, jr.key(3))
        logits = jax.vmap(lambda coder, hidden: coder.logits(hidden))(
            state.autoencoders, ensemble.trunks(x)
        )
        return float(jnp.mean(jnp.abs(logits) < 1))

    assert indecision(1.0) < 0.8 * indecision(0.0)


def test_encoding_in_blocks_gives_every_row_its_own_code(monkeypatch):
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (70, 3))
    state = fit.start(fit.feature_scales(ensemble, x), 3, 6, CodesConfig(bits=6), key=jr.key(2))
    monkeypatch.setattr("countmorl.trees.BLOCK", 32)
    words, ones = encode(ensemble, state.autoencoders, x)
    bits = jax.vmap(lambda coder, hidden: coder.bits(hidden))(
        state.autoencoders, ensemble.trunks(x)
    )
    np.testing.assert_array_equal(words, pack(bits))
    np.testing.assert_allclose(ones, np.asarray(bits).mean(axis=1), atol=1e-6)


def test_quality_by_hand():
    tables = [CountTable.of(np.array([[0], [0], [1], [3]], np.uint32))]
    facts = quality(tables, np.array([[0.5, 0.25]]), rows=4)
    assert facts["codes"] == [3]
    assert facts["samples_per_code"] == [4 / 3]
    entropy = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    np.testing.assert_allclose(facts["bit_entropy"], [(1 + entropy) / 2])


def test_a_collapsed_encoder_is_found():
    assert collapsed([6.0, 7.0, 100_000.0, 8.0], rows=100_000) == [2]
    assert collapsed([5.0, 6.0, 150.0], rows=100_000) == [2]
    assert collapsed([5.0, 6.0, 12.0], rows=100_000) == []


@pytest.mark.parametrize("bits", [0, 129])
def test_code_lengths_out_of_range_are_refused(bits):
    with pytest.raises(ConfigError, match="auto or from 1 to 128"):
        CodesConfig(bits=bits)


def test_negative_noise_is_refused():
    with pytest.raises(ConfigError, match="`fit_noise` must be at least 0"):
        CodesConfig(fit_noise=-0.1)
