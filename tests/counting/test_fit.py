import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.counting import fit
from countmorl.counting.base import CodesConfig
from countmorl.counting.fit import collapsed, encode
from countmorl.counting.table import CountTable, pack
from countmorl.dynamics.fit import ModelRows
from models import small_ensemble


def codes_fit(ensemble, x, config, bits=6):
    return fit.CodesFit(ensemble, ModelRows(x, x, x, x), config, bits)


def test_encoders_learn_and_the_model_is_untouched():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (300, 3))
    before = [np.asarray(leaf).copy() for leaf in jax.tree.leaves(ensemble)]
    config = CodesConfig(bits=6, fit_updates=150, fit_batch=64)
    state = codes_fit(ensemble, x, config).init(key=jr.key(2))
    state, first = fit.fit_epoch((ensemble, x, config), state, jr.key(3))
    state, last = fit.fit_epoch((ensemble, x, config), state, jr.key(4))
    assert last["loss"] < 0.7 * first["loss"]
    for old, new in zip(before, jax.tree.leaves(ensemble), strict=True):
        np.testing.assert_array_equal(old, new)


def test_noise_drives_the_bottleneck_to_its_ends():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (300, 3))

    def indecision(noise):
        config = CodesConfig(bits=6, fit_updates=300, fit_batch=64, fit_noise=noise)
        state = codes_fit(ensemble, x, config).init(key=jr.key(2))
        state, _ = fit.fit_epoch((ensemble, x, config), state, jr.key(3))
        logits = jax.vmap(lambda coder, hidden: coder.logits(hidden))(
            state.autoencoders, ensemble.trunks(x)
        )
        return float(jnp.mean(jnp.abs(logits) < 1))

    assert indecision(1.0) < 0.8 * indecision(0.0)


def test_encoding_in_blocks_gives_every_row_its_own_code(monkeypatch):
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (70, 3))
    state = codes_fit(ensemble, x, CodesConfig(bits=6)).init(key=jr.key(2))
    monkeypatch.setattr("countmorl.trees.BLOCK", 32)
    words, ones = encode(ensemble, state.autoencoders, x)
    bits = jax.vmap(lambda coder, hidden: coder.bits(hidden))(
        state.autoencoders, ensemble.trunks(x)
    )
    np.testing.assert_array_equal(words, pack(bits))
    np.testing.assert_allclose(ones, np.asarray(bits).mean(axis=1), atol=1e-6)


def test_codes_are_described_by_hand():
    tables = (CountTable.of(np.array([[0], [0], [1], [3]], np.uint32)),)
    facts = fit.describe(tables, np.array([[0.5, 0.25]]), 4, np.array([[1, 2, 6]]))
    assert facts.codes == [3]
    assert facts.samples_per_code == [4 / 3]
    assert facts.typical_count == 2.0
    entropy = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    np.testing.assert_allclose(facts.bit_entropy, [(1 + entropy) / 2])


def test_a_collapsed_encoder_is_found():
    assert collapsed([6.0, 7.0, 100_000.0, 8.0], rows=100_000) == [2]
    assert collapsed([5.0, 6.0, 150.0], rows=100_000) == [2]
    assert collapsed([5.0, 6.0, 12.0], rows=100_000) == []
