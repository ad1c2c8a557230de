import numpy as np
import polars as pl
import pytest

from countmorl.data.tables.tally import Tally, Twins
from countmorl.errors import DataError


def tallied(*blocks):
    tally, start = Tally("x", lambda row: f"row {row + 1}"), 0
    for block in blocks:
        raw = pl.Series(block, dtype=pl.Float64)
        with np.errstate(over="ignore"):
            values = raw.to_numpy().astype(np.float32)
        tally.add(values, raw, start)
        start += len(block)
    return tally


def test_missing_values_and_range():
    tally = tallied([1.0, 2.0], [None, 5.0], [None, None])
    assert (tally.missing, tally.first_missing) == (3, 2)
    assert (tally.low, tally.high, tally.is_constant) == (1, 5, False)
    assert tallied([3.0, 3.0]).is_constant


def test_blank_rows_are_not_missing():
    tally = Tally("x", str)
    tally.add(np.array([1, np.nan], np.float32), None, 0, np.array([False, True]))
    assert tally.missing == 0


@pytest.mark.parametrize(
    ("values", "words"),
    [([1.0, float("inf")], "infinite in row 4"), ([1.0, -1e300], "-1e[+]300 in row 4.*32 bits")],
)
def test_what_32_bits_cannot_hold(values, words):
    with pytest.raises(DataError, match=words):
        tallied([0.0, 1.0], values)


@pytest.mark.parametrize(
    "values",
    [
        [1.7e9 + i for i in range(20)],  # Seconds since 1970: 128 apart in 32 bits.
        [1.7e18 + 256 * i for i in range(50)],
        [1.7e18] * 3,
        [2.0**26 + i for i in range(3000)],
        [100 + 1e-5 * i for i in range(10)],
    ],
)
def test_variation_that_is_lost_is_refused(values):
    with pytest.raises(DataError, match=r"'x' holds numbers from .* is lost"):
        tallied(values).check_precision()


@pytest.mark.parametrize(
    "values", [[5.0, 5.0], [0.1, 0.2], [1e6, 1e6 + 10], [350 + 1e-14, 350.0], [0.0], [None]]
)
def test_other_columns_are_not(values):
    tallied(values).check_precision()


def test_twins_are_equal_in_every_block():
    twins = Twins()
    block = np.arange(40, dtype=np.float32)
    twins.add(np.stack([block, block, block + 1, block], axis=1))
    assert twins.groups == [[0, 1, 3]]
    later = block.copy()
    later[39] = 0
    twins.add(np.stack([block, block, block, later], axis=1))
    assert twins.groups == [[0, 1]]
