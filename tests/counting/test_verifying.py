from functools import cache

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.counting.base import CodesConfig, Counting
from countmorl.counting.fit import rebuilding_errors
from countmorl.counting.learned import CodeCounter
from countmorl.counting.verifying import LEVELS, Asked, beyond, doubts, enough, told, verify
from countmorl.dynamics.fit import ModelRows
from countmorl.errors import ConfigError
from countmorl.fitting import run_fit
from countmorl.runs.calibration import Threshold
from models import small_ensemble


@cache
def fitted():
    """A model, its rows, and plain codes of them."""
    x = jr.normal(jr.key(1), (300, 3))
    parts = {"ensemble": small_ensemble(), "rows": ModelRows(x[:250], x[:250], x[250:], x[250:])}
    job = Counting(
        **parts,
        config=CodesConfig(bits=5, fit_epochs=2, fit_updates=30, follow="pairs"),
        seed=0,
        do=lambda each: run_fit(each, seed=0),
        say=lambda text: None,
    )
    return parts["ensemble"], parts["rows"], CodeCounter.fit(job)


def verified(setting, imagined, forgets=0.01):
    ensemble, rows, counter = fitted()
    return verify(counter, setting, ensemble, rows, imagined(rows.x), forgets=forgets)


def test_pairs_are_unverified_by_the_majority():
    asked = Asked(
        counts=np.array([[3, 0, 2, 5], [1, 4, 2, 5], [1, 0, 2, 5]]),
        errors=np.array([[0.1, 0.1, 0.9, 0.1], [0.1, 0.1, 0.9, 0.9], [0.3, 0.1, 0.1, 0.1]]),
    )
    # The first two elites take errors up to a half, the third up to a quarter. The first pair has
    # two votes, the second one (two never saw it), the third one, the fourth two.
    assert asked.unverified(np.array([0.5, 0.5, 0.25])) == 0.5
    assert asked.unverified(np.full(3, 1.0)) == 0.25
    assert Asked(np.zeros((3, 0), int), np.zeros((3, 0))).unverified(np.ones(3)) == 1.0


def test_a_code_counts_only_where_its_decoder_knows_the_pair():
    ensemble, rows, plain = fitted()
    counter, tried = verified(0.9, lambda x: x)
    assert [(each.quantile, each.times) for each in tried] == [(0.9, 1.0)]
    x = rows.x
    errors = np.asarray(rebuilding_errors(ensemble, counter.autoencoders, x))
    np.testing.assert_allclose(counter.limits, np.quantile(errors, 0.9, axis=1), rtol=1e-5)
    counts = np.asarray(counter.counts(x, ensemble.trunks(x)))
    np.testing.assert_allclose((counts == 0).mean(axis=1), 0.1, atol=0.01)
    far = 50 * x  # Codes that are in use, and pairs that nobody has seen.
    assert np.asarray(plain.counts(far, ensemble.trunks(far))).max() > 0
    assert np.asarray(counter.counts(far, ensemble.trunks(far))).max() == 0


def test_auto_takes_the_strictest_threshold_that_the_clone_passes():
    _, tried = verified("auto", lambda x: x)  # A clone that does what was logged.
    assert [(each.quantile, each.times) for each in tried] == [LEVELS[0]]
    assert tried[0].imagined <= 0.02
    counter, tried = verified("auto", lambda x: 1.5 * x)  # One whose rollouts go a little wide.
    assert 1 < len(tried) < len(LEVELS)
    assert enough(tried[-1])
    assert not any(map(enough, tried[:-1]))
    shares = [each.imagined for each in tried]
    assert shares == sorted(shares, reverse=True)
    chosen, (ensemble, rows, plain) = tried[-1], fitted()
    errors = np.asarray(rebuilding_errors(ensemble, plain.autoencoders, rows.x))
    wanted = chosen.times * np.quantile(errors, chosen.quantile, axis=1)
    np.testing.assert_allclose(counter.limits, wanted, rtol=1e-5)
    assert doubts(tried) is None


def test_codes_that_are_wrong_for_a_log_are_called_so():
    _, tried = verified("auto", lambda x: 50 * x)
    assert [(each.quantile, each.times) for each in tried] == list(LEVELS)
    said = doubts(tried)
    assert said.startswith("The codes are wrong for this log: even up to 4 times the decoders'")
    assert "100 % of the pairs that a clone of the data imagines are unseen" in said
    _, tried = verified(0.99, lambda x: 50 * x)
    assert "up to the decoders' error on 99 % of the data" in doubts(tried)
    assert doubts(tried).endswith("--codes.verified auto tries wider thresholds.")


def test_what_was_chosen_is_told():
    chosen = Threshold(quantile=1.0, times=1.0, imagined=0.125, held_out=0.04)
    assert told((chosen,)) == (
        "codes are verified up to the decoders' largest error on the data: 12 % of the pairs that "
        "a clone of the data imagines are unseen or unverified, 4 % of held-out ones"
    )


@pytest.mark.parametrize("verified", [0.0, 1.5])
def test_other_thresholds_are_refused(verified):
    with pytest.raises(ConfigError, match="`verified` must be auto, or above 0 and at most 1"):
        CodesConfig(verified=verified)


def test_a_pair_is_astray_where_most_decoders_err_more_than_on_what_a_clone_imagines():
    errors = np.array([[1.0, 2, 3, 4], [8, 4, 6, 2], [9, 9, 9, 9]])
    limits = np.array([1.0, 2, 3])
    # In units of the limits: 1 2 3 4, 4 2 3 1, 3 3 3 3; the middle ones are 3 2 3 3.
    np.testing.assert_allclose(beyond(errors, limits, 0.0), 3 * limits)
    np.testing.assert_allclose(beyond(errors, limits, 1.0), 2 * limits)
    # Of two elites more than half are both: 1 2 3 1.
    np.testing.assert_allclose(beyond(errors[:2], limits[:2], 0.0), 3 * limits[:2])
    # What is verified is never astray, however near a clone keeps to the data.
    np.testing.assert_allclose(beyond(errors / 10, limits, 0.0), limits)
    np.testing.assert_allclose(beyond(np.zeros((3, 0)), limits, 0.0), limits)


def test_a_clones_rollouts_end_more_seldom_than_the_discount_forgets():
    ensemble, rows, _ = fitted()
    wide = 1.5 * rows.x  # As far as rollouts go in the model.
    often, _ = verified(0.9, lambda x: wide, forgets=0.4)
    seldom, _ = verified(0.9, lambda x: wide, forgets=0.04)
    shares = []
    for counter in (often, seldom):
        hidden = ensemble.trunks(wide)
        gone = counter.astray(wide, hidden, counter.counts(wide, hidden))
        shares.append(float(gone.mean()))
    np.testing.assert_allclose(shares, [0.2, 0.02], atol=0.01)


def test_a_column_in_another_unit_is_never_seen_not_even_one_that_tells_episodes_apart():
    # The first column stays the same within an episode, the third is an action.
    rng = np.random.default_rng(0)
    still = 3 + rng.normal(size=20)[np.repeat(np.arange(20), 30)]
    x = jnp.asarray(np.column_stack([still - still.mean(), rng.normal(size=(600, 2))]), jnp.float32)
    ensemble, rows = small_ensemble(), ModelRows(x[:500], x[:500], x[500:], x[500:])
    job = Counting(
        ensemble=ensemble,
        rows=rows,
        config=CodesConfig(fit_epochs=2, fit_updates=200),
        seed=0,
        do=lambda each: run_fit(each, seed=0),
        say=lambda text: None,
        varying=np.array([0.0, 1.0]),
    )
    counter, _ = verify(CodeCounter.fit(job), 0.99, ensemble, rows, rows.x, forgets=0.01)

    def unseen(pairs):
        counts = np.asarray(counter.counts(pairs, ensemble.trunks(pairs)))
        return float((counts == 0).all(axis=0).mean())

    assert unseen(rows.holdout_x) < 0.2
    for column, mean in enumerate((still.mean(), 5.0, 5.0)):
        moved = 1000 * (rows.holdout_x[:, column] + mean) - mean
        assert unseen(rows.holdout_x.at[:, column].set(moved)) == 1.0
