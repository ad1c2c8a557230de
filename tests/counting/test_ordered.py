import numpy as np
import pytest

from countmorl.counting.ordered import (
    LONGEST,
    PLAIN,
    VERIFIED,
    best_length,
    codes_in_use,
    crowding,
    crowding_by_length,
    told,
)


def test_codes_of_every_length_by_hand():
    # The first bit is the lowest. By one bit there are two codes, by two bits three, by five four.
    words = np.array([0b00000, 0b00001, 0b00011, 0b10011, 0b10011], np.uint32)
    found = codes_in_use(words)
    assert found.shape == (LONGEST,)
    assert found[:6].tolist() == [2, 3, 3, 3, 4, 4]
    assert found[-1] == 4


def test_codes_of_every_length_are_those_of_cut_words():
    words = np.random.default_rng(0).integers(0, 2**32, 500, dtype=np.uint32)
    words[::3] &= np.uint32(0xFFF)
    cut = [len(np.unique(words & np.uint32(2**bits - 1))) for bits in range(1, LONGEST + 1)]
    assert codes_in_use(words).tolist() == cut
    assert codes_in_use(words[:1]).tolist() == [1] * LONGEST


def test_codes_that_are_too_full_count_as_crowded_where_nothing_verifies_them():
    # 1000 of 65,536 codes are few; 8192 are an eighth, twice as many as are good.
    assert crowding(1000, 6000, 16, PLAIN) == 6.0
    assert crowding(8192, 8192 * 6, 16, PLAIN) == 14.0
    assert crowding(8192, 8192 * 6, 16, VERIFIED) == 6.0


def test_the_code_is_cut_where_it_is_as_crowded_as_is_wanted():
    # Every bit of the first ten halves the rows of a code; of 14,336 rows ten bits leave 14.
    words = np.tile(np.arange(1024, dtype=np.uint32), (3, 14))
    crowded = crowding_by_length(words, VERIFIED)
    assert (crowded[4], crowded[9], crowded[10], crowded[32]) == (896, 28, 14, 14)
    assert best_length(crowded, VERIFIED) == 10  # Bits that tell nothing are left out.
    assert best_length({4: 900.0, 9: 90.0, 20: 75.0, 32: 72.0}, VERIFIED) == 9
    assert best_length({4: 8.0, 9: 2.0, 32: 1.0}, VERIFIED) == 4
    assert told(crowded).startswith("rows per code by code length: 4: 896.0, 8: 56.0, 12: 14.0")


def test_the_middle_elite_decides_on_the_length():
    one, other = np.zeros(600, np.uint32), np.arange(600, dtype=np.uint32)
    assert crowding_by_length(np.stack([one, other, other]), PLAIN)[32] == pytest.approx(1.0)
    assert crowding_by_length(np.stack([one, other, one]), PLAIN)[32] == pytest.approx(600)
