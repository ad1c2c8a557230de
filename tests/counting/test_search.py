import pytest

from countmorl.counting.fit import CodeFacts
from countmorl.counting.search import VERIFIED, crowding, hopeless, next_bits, search_length


def facts(rows_per_code, codes=1000):
    return CodeFacts(
        codes=[codes], samples_per_code=[rows_per_code], bit_entropy=[1.0], typical_count=1.0
    )


def halving(at):
    """Codes that halve their rows with every two bits and hold 7 of them at `at`."""
    return lambda bits: (bits, facts(7.0 * 2.0 ** ((at - bits) / 2), codes=1))


@pytest.mark.parametrize("at", [10, 24, 33, 60])
def test_the_search_ends_near_seven_rows_per_code(at):
    said: list[str] = []
    bits, found = search_length(halving(at), said.append)
    assert 4 <= found.samples_per_code[0] <= 12.5
    assert abs(bits - at) <= 2
    assert f"{bits}: " in said[0]


def test_a_search_that_cannot_succeed_ends_with_the_closest():
    tried = []

    def stubborn(bits):
        tried.append(bits)
        return bits, facts(1000.0 - bits)

    said: list[str] = []
    bits, _ = search_length(stubborn, said.append)
    assert bits == 36
    assert tried == [24, 36]  # The longer codes tell no more, so no third one is fitted.
    assert "codes of 36 bits are hardly less crowded than shorter ones" in said[0]


def test_verified_codes_begin_short_and_are_soon_content():
    said: list[str] = []
    # 7 rows at 20 bits are 28 at 16, which is within 14 / 4.5 to 14 * 4.5.
    assert search_length(halving(20), said.append, VERIFIED)[0] == 16
    assert said == ["rows per code by code length: 16: 28.0"]
    _, found = search_length(halving(30), said.append, VERIFIED)
    assert 3 <= found.samples_per_code[0] <= 63
    assert said[1] == "rows per code by code length: 16: 896.0, 24: 56.0"
    assert crowding(facts(6.0, codes=8192), 16, VERIFIED) == 6.0


def test_codes_that_are_too_full_count_as_crowded():
    # 1000 of 65,536 codes are few; 8192 are an eighth, twice as many as are good.
    assert crowding(facts(6.0, codes=1000), 16) == 6.0
    assert crowding(facts(6.0, codes=8192), 16) == 14.0


def test_where_to_look_next():
    assert next_bits({24: 70.0}, 7.0) == 36
    assert next_bits({24: 0.7}, 7.0) == 16
    assert next_bits({16: 70.0, 32: 0.7}, 7.0) == 24
    assert next_bits({20: 10.1, 21: 4.9}, 7.0) == 21


def test_when_longer_codes_do_not_help():
    assert not hopeless({24: 70.0}, 7.0)
    assert not hopeless({24: 70.0, 36: 50.0}, 7.0)
    assert hopeless({24: 70.0, 36: 60.0}, 7.0)
    assert not hopeless({16: 6.9, 24: 6.8}, 7.0)  # As few rows per code as are wanted.
