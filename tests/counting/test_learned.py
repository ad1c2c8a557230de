import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.counting import fit
from countmorl.counting.base import CodesConfig, Counting
from countmorl.counting.codes import Autoencoder
from countmorl.counting.fit import CodeFacts
from countmorl.counting.learned import CodeCounter, fitted, tell_quality
from countmorl.counting.table import CountTable, pack
from countmorl.dynamics.fit import ModelRows
from countmorl.errors import RunError
from countmorl.fitting import run_fit
from countmorl.scaling import Standardizer
from models import small_ensemble


def code_counter(seed):
    keys = jr.split(jr.key(seed), 2)
    coders = jax.vmap(lambda k: Autoencoder.make(Standardizer.identity(3), 4, 3, 2, key=k))(keys)
    codes = [pack(jr.bernoulli(k, 0.5, (60, 4))) for k in keys]
    tables = tuple(CountTable.of(np.asarray(code)) for code in codes)
    return CodeCounter(autoencoders=coders, tables=tables)


def job(config, said=None):
    x = jr.normal(jr.key(1), (300, 3))
    rows = ModelRows(x[:250], x[:250], x[250:], x[250:])
    say = (lambda text: None) if said is None else said.append
    do = lambda each: run_fit(each, seed=0)  # noqa: E731
    return Counting(ensemble=small_ensemble(), rows=rows, config=config, seed=0, do=do, say=say)


def test_counters_of_two_datasets_merge():
    first, second = code_counter(0), code_counter(1)
    merged = first.merge(CodeCounter(autoencoders=first.autoencoders, tables=second.tables))
    words = pack(jax.random.bernoulli(jr.key(5), 0.5, (30, 4)))
    for a, b, both in zip(first.tables, second.tables, merged.tables, strict=True):
        np.testing.assert_array_equal(a.lookup(words) + b.lookup(words), both.lookup(words))


def test_fitted_in_memory_it_counts_the_training_rows_and_no_others():
    said: list[str] = []
    work = job(CodesConfig(bits=5, fit_epochs=2, fit_updates=30), said)
    counter = CodeCounter.fit(work)
    assert counter.bits == 5
    assert all(int(table.counts.sum()) == 250 for table in counter.tables)
    x = work.rows.x
    counts = np.asarray(counter.counts(x, work.ensemble.trunks(x)))
    assert counts.shape == (2, 250)
    assert counts.min() >= 1  # Every counted row finds itself.
    assert counter.rows_per_code == pytest.approx(
        np.median([250 / len(table) for table in counter.tables])
    )
    assert "codes of 5 bits" in said[-1]


def test_what_verifies_codes_is_saved_with_them():
    counter = code_counter(0)
    limited = CodeCounter(
        autoencoders=counter.autoencoders, tables=counter.tables, limits=jnp.array([0.5, 0.25])
    )
    again = CodeCounter.from_arrays(limited.to_arrays())
    np.testing.assert_array_equal(again.limits, [0.5, 0.25])
    assert CodeCounter.from_arrays(counter.to_arrays()).limits is None
    np.testing.assert_array_equal(limited.merge(counter).limits, [0.5, 0.25])


def test_a_collapsing_encoder_is_refitted_and_at_last_refused(monkeypatch):
    said: list[str] = []
    work = job(CodesConfig(bits=4, fit_epochs=1, fit_updates=2), said)
    monkeypatch.setattr("countmorl.counting.learned.collapsed", lambda each, rows: [1])
    with pytest.raises(RunError, match=r"elites \[1\] collapse \(4 bits\) even after 3 tries"):
        fitted(work, 4)
    assert sum("collapsed (codes-4" in text for text in said) == 3


@pytest.mark.parametrize(("bits", "advice"), [(40, "auto finds"), ("auto", "up to 32 is better")])
def test_useless_codes_are_called_so_with_advice_that_helps(bits, advice):
    said: list[str] = []
    facts = CodeFacts(codes=[99], samples_per_code=[1.01], bit_entropy=[0.9], typical_count=0.0)
    tell_quality(job(CodesConfig(bits=bits), said), 40, facts)
    assert "nearly every pair looks unseen" in said[-1]
    assert advice in said[-1]


def test_code_counts_are_the_lookups_of_rounded_codes():
    counter, hidden = code_counter(0), jr.normal(jr.key(3), (2, 7, 3))
    got = counter.counts(jnp.zeros((7, 2)), hidden)
    for member, table in enumerate(counter.tables):
        coder = jax.tree.map(lambda leaf, at=member: leaf[at], counter.autoencoders)
        np.testing.assert_array_equal(got[member], table.lookup(pack(coder.bits(hidden[member]))))
    np.testing.assert_array_equal(
        got, fit.code_counts(counter.autoencoders, counter.tables, hidden)
    )
