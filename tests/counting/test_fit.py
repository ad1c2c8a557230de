import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.counting import fit
from countmorl.counting.base import CodesConfig
from countmorl.counting.codes import Autoencoder
from countmorl.counting.fit import collapsed, encode
from countmorl.counting.ordered import LONGEST, VERIFIED, best_length
from countmorl.counting.table import CountTable, pack
from countmorl.dynamics.fit import ModelRows
from countmorl.fitting import run_fit
from models import small_ensemble


def codes_fit(ensemble, x, config, bits=6, varying=None):
    return fit.CodesFit(ensemble, ModelRows(x, x, x, x), config, bits, varying=varying)


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
    # Five numbers: four of the observation, of which one never moves, and an action. Of three
    # predicted ones the second never differs.
    ensemble = small_ensemble(inputs=5)
    ensemble = eqx.tree_at(lambda e: e.targets.std, ensemble, jnp.array([1.0, 0.0, 1.0]))
    weights = fit.column_weights(ensemble, np.array([1.0, 0.5, 0.0, 0.49]))
    pair = np.array([1.0, 0.5, fit.LEAST, 0.49, 1.0]) / 0.6
    np.testing.assert_allclose(weights, [*pair, fit.STEPS, 0, fit.STEPS], rtol=1e-6)
    np.testing.assert_array_equal(fit.column_weights(ensemble, None)[:5], np.ones(5))
    x = jr.normal(jr.key(1), (30, 3))
    plain = CodesConfig(follow="pairs")
    given = codes_fit(small_ensemble(), x, plain, varying=np.array([1.0, 0.0]))
    np.testing.assert_array_equal(given.weights, [1, 1, 1])


def test_steps_are_rebuilt_while_encoders_are_fitted_and_pairs_alone_afterwards():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (300, 3))
    work = codes_fit(ensemble, x, CodesConfig(fit_epochs=1, fit_updates=20), bits=4)
    state = work.init(key=jr.key(0))
    assert state.autoencoders.decoder.biases[-1].shape == (2, 6)
    whole, found = state.autoencoders, work.result(state)
    assert found.decoder.biases[-1].shape == (2, 3)
    code = jr.uniform(jr.key(2), (2, 7, 4))
    rebuilt = jax.vmap(lambda net, bits: net.decoder(bits))
    np.testing.assert_allclose(rebuilt(found, code), rebuilt(whole, code)[..., :3], rtol=1e-6)


@pytest.mark.slow
def test_a_column_that_tells_episodes_apart_does_not_eat_the_bits():
    # Two numbers change from row to row, eight say which of forty episodes it is.
    ensemble, rng = small_ensemble(inputs=10), np.random.default_rng(0)
    episode = np.repeat(np.arange(40), 25)
    still = rng.normal(size=(40, 8))[episode]
    x = jnp.asarray(np.concatenate([still, rng.normal(size=(1000, 2))], axis=1), jnp.float32)

    def told(follow):
        config = CodesConfig(fit_epochs=1, fit_updates=500, follow=follow)
        work = codes_fit(ensemble, x, config, bits=6, varying=np.r_[np.zeros(8), 1.0])
        found = run_fit(work, seed=0)
        code = jax.nn.sigmoid(jax.vmap(Autoencoder.logits)(found, ensemble.trunks(x)))
        rebuilt = jax.vmap(lambda net, bits: net.decoder(bits))(found, code)
        left = np.mean(np.square(np.asarray(rebuilt - x)), axis=(0, 1))
        return float(left[8:].mean()), float(left[:8].mean())

    (moving, other), (plainly, same) = told("dynamics"), told("pairs")
    assert moving < 0.5 * plainly
    assert other > same  # What they know less of instead.


@pytest.mark.slow
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
