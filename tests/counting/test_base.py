"""What every counter must do, whatever it counts by."""

import equinox as eqx
import jax.random as jr
import numpy as np
import pytest

from countmorl.algorithms.count_morl import CountMORL
from countmorl.counting import COUNTERS, find_counter
from countmorl.counting.base import CodesConfig, Counting
from countmorl.dynamics.fit import ModelRows
from countmorl.errors import ConfigError
from countmorl.fitting import run_fit
from models import small_ensemble


def fitted(name):
    x = jr.normal(jr.key(1), (200, 3)).round(0)
    rows = ModelRows(x[:150], x[:150], x[150:], x[150:])
    config = CodesConfig(bits=6, fit_epochs=1, fit_updates=20, follow="pairs")
    job = Counting(
        ensemble=small_ensemble(),
        rows=rows,
        config=config,
        seed=3,
        do=lambda fit: run_fit(fit, seed=3),
        say=lambda text: None,
    )
    return job, find_counter(name).fit(job)


@pytest.mark.parametrize("name", COUNTERS)
def test_it_counts_its_own_rows_and_comes_back_from_its_arrays(name):
    job, counter = fitted(name)
    x = job.rows.x
    counts = np.asarray(counter.counts(x, job.ensemble.trunks(x)))
    assert counts.ndim == 2
    assert counts.min() >= 1
    assert 1 <= counter.rows_per_code <= 150
    again = COUNTERS[name].from_arrays(counter.to_arrays())
    assert eqx.tree_equal(again, counter)


@pytest.mark.parametrize("name", COUNTERS)
def test_more_data_never_lowers_a_count(name):
    """The tables of more rows by the same code hold at least what those of fewer rows hold."""
    job, counter = fitted(name)
    x = job.rows.x
    fewer = np.asarray(counter.counts(x, job.ensemble.trunks(x)))
    for table, counts in zip(counter.tables, fewer, strict=True):
        more = table.merge(table)
        np.testing.assert_array_equal(more.counts.sum(), 2 * table.counts.sum())
        assert (np.asarray(more.counts).max() >= counts).all()


def test_every_counter_is_named_in_the_help_of_the_setting():
    from countmorl.cli.help import field_docs

    assert all(name in field_docs(CountMORL)["counter"] for name in COUNTERS)


def test_an_unknown_counter_is_refused_with_a_suggestion():
    with pytest.raises(ConfigError, match=r"No counter named 'code'. Did you mean 'codes'\?"):
        CountMORL(counter="code")


def test_simhash_wants_a_length():
    job, _ = fitted("exact")
    with pytest.raises(ConfigError, match="simhash needs a code length"):
        find_counter("simhash").fit(Counting(**{**vars(job), "config": CodesConfig(bits="auto")}))


@pytest.mark.parametrize("bits", [0, 129])
def test_code_lengths_out_of_range_are_refused(bits):
    with pytest.raises(ConfigError, match="auto or from 1 to 128"):
        CodesConfig(bits=bits)


def test_negative_noise_is_refused():
    with pytest.raises(ConfigError, match="`fit_noise` must be at least 0"):
        CodesConfig(fit_noise=-0.1)
