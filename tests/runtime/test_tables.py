from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from countmorl.counting.table import CountTable, pack
from countmorl.runtime.tables import Table, Tables, packed


def table(*codes):
    return Table.of(np.array([[code] for code in codes], np.uint32))


def test_lookup_by_hand_member_by_member():
    tables = Tables((table(5, 7, 5, 5), table(*range(100))))
    asked = np.array([[[5], [7], [6]], [[5], [99], [100]]], np.uint32)
    assert tables.lookup(asked).tolist() == [[3, 1, 0], [1, 1, 0]]


@pytest.mark.parametrize("words", [1, 3, 6])
def test_the_same_counts_as_the_compiled_table(words):
    rng = np.random.default_rng(words)
    seen = rng.integers(0, 5, (3, 400, words)).astype(np.uint32)
    asked = np.concatenate([seen, seen ^ np.uint32(1)], axis=1)
    found = Tables(tuple(map(Table.of, seen))).lookup(asked)
    compiled = [CountTable.of(s).lookup(jnp.asarray(a)) for s, a in zip(seen, asked, strict=True)]
    np.testing.assert_array_equal(found, np.stack(compiled))


@pytest.mark.parametrize("bits", [1, 16, 32, 33, 128])
def test_packing_is_that_of_the_compiled_code(bits):
    values = np.random.default_rng(bits).random((4, 7, bits)) > 0.5
    np.testing.assert_array_equal(packed(values), pack(jnp.asarray(values)))


def test_tables_add_up():
    both = table(5, 5, 7).merge(table(5, 9))
    asked = np.array([[[5], [7], [9], [1]]], np.uint32)
    assert Tables((both,)).lookup(asked).tolist() == [[3, 1, 1, 0]]
    (merged,) = Tables((table(1),)).merge([table(1)]).each
    assert merged.counts.tolist() == [2]


def test_too_much_to_count():
    much = replace(table(5), counts=np.array([2**31 - 1]))
    with pytest.raises(OverflowError):
        much.merge(table(5))


SOUND = table(*range(50))


@pytest.mark.parametrize(
    "change",
    [
        {"words": SOUND.words[:, 0]},
        {"words": SOUND.words.astype(np.int32)},
        {"words": SOUND.words[::-1]},
        {"words": SOUND.words + np.uint32(1)},
        {"counts": SOUND.counts[:-1]},
        {"counts": SOUND.counts - 1},
        {"counts": SOUND.counts.astype(np.float32)},
        {"starts": SOUND.starts[:-1]},
        {"starts": SOUND.starts + 1},
        {"starts": SOUND.starts[::-1]},
        {"starts": np.zeros(2, np.int32)},
    ],
)
def test_a_damaged_table_is_none(change):
    assert SOUND.problem() is None
    assert replace(SOUND, **change).problem()
