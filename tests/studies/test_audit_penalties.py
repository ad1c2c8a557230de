import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.counting.base import CodesConfig, Counting
from countmorl.counting.exact import ExactCounter
from countmorl.counting.fit import rebuilding_errors
from countmorl.counting.learned import CodeCounter
from countmorl.dynamics.fit import ModelRows
from countmorl.fitting import run_fit
from countmorl.pessimism import StdPenalty
from countmorl.studies.audit_penalties import Judge, distance
from models import ensemble

ROWS = 60


@pytest.fixture(scope="module")
def rows():
    x, y = jr.normal(jr.key(0), (ROWS, 3)), jr.normal(jr.key(1), (ROWS, 3))
    return ModelRows(x, y, x[:20], y[:20])


def fitted(kind, rows):
    job = Counting(
        ensemble=ensemble(),
        rows=rows,
        config=CodesConfig(bits=6, fit_epochs=1, fit_updates=9, follow="pairs"),
        seed=0,
        do=lambda fit: run_fit(fit, seed=0),
        say=lambda _: None,
    )
    return kind.fit(job)


def judged(counter, rows):
    counters = {} if counter is None else {"": counter}
    judge = Judge.of(ensemble(), counters, 0.5, rows.x, jnp.ones(3))
    return judge, judge(rows.x[:, :2], rows.x[:, 2:])


def test_a_model_alone(rows):
    _, found = judged(None, rows)
    assert found.unseen is None
    assert not any("count" in name for name in found.penalties)
    heads = ensemble().predict(rows.x)
    wanted = StdPenalty(1.0, "max_std").doubt(*heads)
    np.testing.assert_allclose(found.penalties["MOPO max_std"], wanted, rtol=1e-5)
    elites = np.asarray(heads[0])[[2, 0]]
    np.testing.assert_allclose(found.prediction, elites.mean(axis=0), rtol=1e-4, atol=1e-5)
    spread = np.sqrt(np.mean(elites.std(axis=0) ** 2, axis=-1))
    np.testing.assert_allclose(found.penalties["elites' spread"], spread, rtol=1e-4, atol=1e-5)


def test_exact_counts_have_no_decoder(rows):
    judge, found = judged(fitted(ExactCounter, rows), rows)
    assert judge.counted[0].limits is None
    assert "decoder error" not in found.penalties
    assert np.asarray(found.unseen).sum() == 0
    np.testing.assert_array_equal(found.penalties["counts AVG"], 1)  # Every pair was seen once.


def test_a_surprised_decoder_forgets_its_counts(rows):
    counter = fitted(CodeCounter, rows)
    judge, found = judged(counter, rows)
    hidden = ensemble().trunks(rows.x)
    errors = np.asarray(rebuilding_errors(ensemble(), counter.autoencoders, rows.x))
    (counted,) = judge.counted
    np.testing.assert_allclose(counted.limits, np.quantile(errors, 0.99, axis=1), rtol=1e-5)
    counts = np.asarray(counter.counts(rows.x, hidden))
    trusted = np.where(errors <= np.asarray(counted.limits)[:, None], counts, 0)
    wanted = (1 / np.sqrt(np.maximum(trusted, 1))).mean(axis=0)
    np.testing.assert_allclose(found.penalties["counts verified"], wanted, rtol=1e-6)
    assert (found.penalties["counts verified"] >= found.penalties["counts each"]).all()
    np.testing.assert_allclose(found.penalties["decoder error"], errors.mean(axis=0), rtol=1e-4)
    joined = found.penalties["spread, dearest where unverified"]
    unknown = 2 * (trusted == 0).sum(axis=0) > len(trusted)
    assert unknown.any()
    spread = np.asarray(found.penalties["elites' spread"])
    np.testing.assert_allclose(np.asarray(joined)[~unknown], spread[~unknown], rtol=1e-6)
    assert np.asarray(joined)[unknown].min() > spread.max()


def test_a_run_that_verifies_is_audited_by_plain_counts_too(rows):
    counter = fitted(CodeCounter, rows)
    strict = CodeCounter(
        autoencoders=counter.autoencoders, tables=counter.tables, limits=jnp.zeros(2)
    )
    _, plain = judged(counter, rows)
    _, found = judged(strict, rows)
    np.testing.assert_array_equal(found.penalties["counts AVG"], plain.penalties["counts AVG"])
    np.testing.assert_array_equal(found.unseen, plain.unseen)


def test_other_lengths_stand_beside_the_own(rows):
    counter = fitted(CodeCounter, rows)
    judge = Judge.of(ensemble(), {"": counter, ", 6 bits": counter}, 0.5, rows.x, jnp.ones(3))
    found = judge(rows.x[:, :2], rows.x[:, 2:]).penalties
    np.testing.assert_array_equal(found["counts LC"], found["counts LC, 6 bits"])
    assert sum(name.endswith(", 6 bits") for name in found) == 7


def test_the_nearest_logged_pair_by_hand():
    logged, asked = jnp.array([[0.0, 0], [3, 4]]), jnp.array([[0.0, 0], [3, 0], [6, 8]])
    np.testing.assert_allclose(distance(logged, asked), [0, 3, 5])


def test_it_is_one_program(rows):
    judge, _ = judged(None, rows)
    assert jax.tree.leaves(judge)
