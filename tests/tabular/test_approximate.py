from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.counting.table import CountTable
from countmorl.envs.gridworld import WORLDS
from countmorl.errors import ConfigError
from countmorl.tabular.approximate import CountsConfig, compare, count_pairs
from countmorl.tabular.qlearning import ROWS, replay

ZIGZAG = WORLDS["zigzag"]
SHORT = CountsConfig(fit_rows=300, model_epochs=1, updates=20, epochs=1)


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
    return replay(ZIGZAG)


def test_every_count_is_exact(steps):
    comparison = compare(ZIGZAG, steps, CountsConfig(), seed=0)
    assert comparison.true.sum() == ROWS["zigzag"]
    assert comparison.members.shape == (5, 256)
    np.testing.assert_array_equal(comparison.members, np.tile(comparison.true, (5, 1)))
    assert comparison.errors == {"members": 0, "LC": 0, "AVG": 0, "UC": 0}
    assert (comparison.wrong, comparison.collisions) == (0, ((),) * 5)


def test_collisions_explain_every_wrong_count(steps):
    comparison = compare(ZIGZAG, steps, replace(SHORT, bits=3), seed=1)
    assert comparison.error > 0
    for counts, groups in zip(comparison.members, comparison.collisions, strict=True):
        wanted = comparison.true.copy()
        for group in groups:
            wanted[list(group)] = comparison.true[list(group)].sum()
        np.testing.assert_array_equal(counts, wanted)
        assert counts.max() > comparison.true.max()


def test_same_seed_same_codes(steps):
    first, second = (compare(ZIGZAG, steps, SHORT, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.members, second.members)


def test_as_in_continuous_control(steps):
    plain = replace(SHORT, noise=0.0, drawing="as-logged", fit_pairs="logged")
    assert compare(ZIGZAG, steps, plain, seed=0).members.shape == (5, 256)


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


def test_dtype_promotion_is_strict():
    assert jax.config.jax_numpy_dtype_promotion == "strict"
