import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.counting import fit
from countmorl.counting.base import CodesConfig
from countmorl.counting.fit import collapsed, encode
from countmorl.counting.ordered import LONGEST, VERIFIED, best_length
from countmorl.counting.table import CountTable, pack
from countmorl.dynamics.fit import ModelRows
from countmorl.fitting import run_fit
from models import small_ensemble


def codes_fit(ensemble, x, config, bits=6, varying=None):
    return fit.CodesFit(ensemble, ModelRows(x, x, x, x), config, bits, varying=varying)


def epoch(ensemble, x, config, state, key):
    return fit.fit_epoch((ensemble, x, jnp.ones(3)), state, key, config, ordered=False)


def test_encoders_learn_and_the_model_is_untouched():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (300, 3))
    before = [np.asarray(leaf).copy() for leaf in jax.tree.leaves(ensemble)]
    config = CodesConfig(bits=6, fit_updates=150, fit_batch=64)
    state = codes_fit(ensemble, x, config).init(key=jr.key(2))
    state, first = epoch(ensemble, x, config, state, jr.key(3))
    state, last = epoch(ensemble, x, config, state, jr.key(4))
    assert last["loss"] < 0.7 * first["loss"]
    for old, new in zip(before, jax.tree.leaves(ensemble), strict=True):
        np.testing.assert_array_equal(old, new)


def test_noise_drives_the_bottleneck_to_its_ends():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (300, 3))

    def indecision(noise):
        config = CodesConfig(bits=6, fit_updates=300, fit_batch=64, fit_noise=noise)
        state = codes_fit(ensemble, x, config).init(key=jr.key(2))
        state, _ = epoch(ensemble, x, config, state, jr.key(3))
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


def test_columns_weigh_by_how_much_they_vary_within_episodes_and_actions_fully():
    # Five numbers: four of the observation, of which one never moves, and an action.
    weights = fit.column_weights(5, np.array([1.0, 0.5, 0.0, 0.49]))
    np.testing.assert_allclose(weights, np.array([1.0, 0.5, fit.LEAST, 0.49, 1.0]) / 0.6, rtol=1e-6)
    np.testing.assert_array_equal(fit.column_weights(3, None), [1, 1, 1])
    x = jr.normal(jr.key(1), (30, 3))
    plain = CodesConfig(varying=False)
    given = codes_fit(small_ensemble(), x, plain, varying=np.array([1.0, 0.0]))
    np.testing.assert_array_equal(given.weights, [1, 1, 1])


def test_an_ordered_fit_is_cut_to_a_code_whose_first_bits_tell_most():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (600, 3))
    config = CodesConfig(fit_epochs=1, fit_updates=400)
    ordered = codes_fit(ensemble, x, config, "auto")
    assert (ordered.name, ordered.bits) == ("codes-ordered", LONGEST)
    whole = run_fit(ordered, seed=0)
    found = ordered.counted(whole)
    assert found.crowded is not None
    bits = found.autoencoders.encoder.biases[-1].shape[-1]
    assert bits == best_length(found.crowded, VERIFIED) < LONGEST
    np.testing.assert_allclose(found.crowded[bits], np.median(found.facts.samples_per_code))
    assert all(int(table.counts.sum()) == 600 for table in found.tables)
    hidden = ensemble.trunks(x)
    counts = fit.code_counts(found.autoencoders, found.tables, hidden)
    assert int(counts.min()) >= 1  # The cut code is looked up in tables of cut codes.

    def error(autoencoders):
        return float(fit.rebuilding_errors(ensemble, autoencoders, x).mean())

    # The first four bits of a code that was fitted as a whole tell less than these do.
    plain = run_fit(codes_fit(ensemble, x, config, 32), seed=0)
    assert error(whole.first(4)) < 0.8 * error(plain.first(4))
    assert error(whole) < error(whole.first(4)) < 1
