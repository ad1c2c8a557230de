from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countmorl.collecting.qlearning import replay
from countmorl.counting.table import CountTable
from countmorl.envs.gridworld import World
from countmorl.errors import ConfigError
from countmorl.studies.approximate import CountsConfig, compare, count_pairs

SMALL = World(name="small", rows=("S..", ".L.", "..G"))
"""Nine cells, 36 pairs; the networks are as large as ever."""
EXACT = CountsConfig(fit_rows=400, model_epochs=2, updates=250)
SHORT = CountsConfig(fit_rows=400, model_epochs=1, updates=20, epochs=1, starts=1)


@settings(max_examples=20)
@given(
    st.lists(st.integers(0, 5), min_size=6, max_size=6),
    st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(any),
)
def test_weighting_pairs_equals_counting_every_row(codes, counts):
    words, n = np.array(codes, np.uint32)[:, None], np.array(counts)
    (weighted,) = count_pairs(words[None], n)
    every_row = CountTable.of(np.repeat(words, n, axis=0))
    queries = jnp.arange(8, dtype=jnp.uint32)[:, None]
    np.testing.assert_array_equal(weighted.lookup(queries), every_row.lookup(queries))


@pytest.fixture(scope="module")
def steps():
    return replay(SMALL, rows=3000)


@pytest.mark.slow
def test_every_count_is_exact(steps):
    comparison = compare(SMALL, steps, EXACT, seed=0)
    assert comparison.true.sum() == 3000
    assert ((comparison.true > 0).sum(), comparison.members.shape) == (28, (5, 36))
    np.testing.assert_array_equal(comparison.members, np.tile(comparison.true, (5, 1)))
    assert comparison.errors == {"members": 0, "LC": 0, "AVG": 0, "UC": 0}
    assert (comparison.wrong, comparison.collisions) == (0, ((),) * 5)


def test_collisions_explain_every_wrong_count(steps):
    comparison = compare(SMALL, steps, replace(SHORT, bits=2), seed=1)
    assert comparison.error > 0
    for counts, groups in zip(comparison.members, comparison.collisions, strict=True):
        wanted = comparison.true.copy()
        for group in groups:
            wanted[list(group)] = comparison.true[list(group)].sum()
        np.testing.assert_array_equal(counts, wanted)
        assert counts.max() > comparison.true.max()


@pytest.mark.slow
def test_same_seed_same_codes(steps):
    first, second = (compare(SMALL, steps, SHORT, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.members, second.members)


def test_collided_encoders_are_fitted_anew_and_that_is_told(steps):
    comparison = compare(SMALL, steps, replace(SHORT, bits=2, starts=2), seed=0)
    assert (comparison.restarts, comparison.updates) == (1, 40)


def test_as_in_continuous_control(steps):
    plain = replace(SHORT, noise=0.0, drawing="as-logged", fit_pairs="logged")
    assert compare(SMALL, steps, plain, seed=0).members.shape == (5, 36)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"bits": 0}, "`bits` must be"),
        ({"bits": 129}, "from 1 to 128"),
        ({"noise": -1.0}, "`fit_noise` must be at least 0"),
        ({"epochs": 0}, "`epochs` must be at least 1"),
    ],
)
def test_bad_settings_are_sentences(wrong, words):
    with pytest.raises(ConfigError, match=words):
        CountsConfig(**wrong)
