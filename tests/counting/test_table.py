import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countmorl.counting.table import CountTable, pack


def brute_counts(words):
    counts = {}
    for row in map(bytes, words):
        counts[row] = counts.get(row, 0) + 1
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_millions_of_queries_agree_with_a_dictionary(words):
    rng = np.random.default_rng(words)
    # Few distinct values in the last word, so that codes repeat; many in the others.
    seen = rng.integers(0, 2**32, (60_000, words), np.uint32)
    seen = seen[rng.integers(0, len(seen), 200_000)]
    table = CountTable.of(seen)
    expected = brute_counts(seen)
    assert len(table) == len(expected)
    lookup = jax.jit(lambda words: table.lookup(words))
    for _ in range(3):
        known = seen[rng.integers(0, len(seen), 250_000)]
        near = known ^ (np.uint32(1) << rng.integers(0, 32, known.shape, np.uint32))
        for queries in (known, near):
            got = np.asarray(lookup(jnp.asarray(queries)))
            wanted = np.fromiter((expected.get(q, 0) for q in map(bytes, queries)), int)
            np.testing.assert_array_equal(got, wanted)


def test_unseen_codes_count_zero_and_seen_ones_exactly():
    table = CountTable.of(np.array([[5], [7], [5], [5]], np.uint32))
    np.testing.assert_array_equal(
        table.lookup(jnp.array([[5], [7], [6], [0]], jnp.uint32)), [3, 1, 0, 0]
    )


def test_packing_puts_the_first_bit_lowest_and_fills_words_in_order():
    bits = np.zeros((1, 34), bool)
    bits[0, [0, 3, 31, 32]] = True
    np.testing.assert_array_equal(pack(jnp.asarray(bits)), [[1 + 8 + 2**31, 1]])


def test_codes_of_128_bits_differ_in_every_bit():
    words = pack(jnp.eye(128, dtype=bool))
    table = CountTable.of(np.asarray(words))
    assert len(table) == 128
    np.testing.assert_array_equal(table.lookup(words), np.ones(128))


rows = st.lists(st.integers(0, 6), min_size=1, max_size=30)


@settings(deadline=None, max_examples=25)
@given(rows, rows)
def test_merged_tables_add_up_and_more_data_never_lowers_a_count(first, second):
    a, b = (np.array(values, np.uint32)[:, None] for values in (first, second))
    merged = CountTable.of(a).merge(CountTable.of(b))
    whole = CountTable.of(np.concatenate([a, b]))
    queries = jnp.arange(8, dtype=jnp.uint32)[:, None]
    np.testing.assert_array_equal(merged.lookup(queries), whole.lookup(queries))
    assert (whole.lookup(queries) >= CountTable.of(a).lookup(queries)).all()
