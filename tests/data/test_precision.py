import h5py
import numpy as np
import pytest

from countmorl.data.precision import BLOCK, narrowed
from countmorl.data.sources import load
from countmorl.errors import DataError

START = 1_700_000_000_000_000_000  # Nanoseconds since 1970.


def kinds(values):
    return [(loss.kind, loss.columns) for loss in narrowed("obs", np.asarray(values))[1]]


def test_ordinary_numbers_lose_nothing():
    rng = np.random.default_rng(0)
    assert kinds(rng.standard_normal((500, 3))) == []
    assert kinds(rng.integers(0, 1000, (500, 3))) == []
    assert kinds(np.full((500, 1), 1e12)) == []  # Constant is constant.
    assert kinds(np.arange(500) % 7 == 0) == []


def test_values_are_those_of_a_plain_cast():
    values = np.random.default_rng(0).standard_normal((BLOCK + 10, 2))
    np.testing.assert_array_equal(narrowed("obs", values)[0], values.astype(np.float32))
    assert narrowed("obs", np.float64(3.0) * np.ones(()))[0].tolist() == [3]
    assert narrowed("obs", np.zeros((0, 2)))[0].shape == (0, 2)


@pytest.mark.parametrize(
    "clock",
    [
        START + 1_000_000_000 * np.arange(300),  # Nanoseconds, a row each second.
        1_700_000_000 + np.arange(300_000),  # Seconds: 128 of them share a number of 32 bits.
        1_700_000_000 + np.arange(300_000.0),
        9_007_199_254_740_993 + np.arange(300) % 2,  # Beyond what a 64-bit float tells apart.
    ],
)
def test_clocks_and_ids_are_flattened(clock):
    table = np.stack([np.arange(len(clock)) % 5, clock], axis=1)
    table = table.astype(clock.dtype)
    assert kinds(table) == [("precision", (1,))]


def test_a_small_variation_around_a_large_mean_is_lost():
    rng = np.random.default_rng(0)
    assert kinds(1e6 + 0.01 * rng.standard_normal((500, 1))) == [("precision", (0,))]
    assert kinds(1e6 + 10 * rng.standard_normal((500, 1))) == []


def test_rounding_of_64_bit_numbers_is_no_variation():
    values = np.full((500, 1), 0.3)
    values[::2] = 0.1 + 0.2
    assert kinds(values) == []


def test_a_column_that_settles_has_not_lost_its_variation():
    assert kinds(350 + 0.9 ** np.arange(2000.0)) == []


@pytest.mark.parametrize("row", [3, BLOCK + 5])
def test_finite_numbers_beyond_32_bits_are_too_large(row):
    values = np.zeros((BLOCK + 10, 2))
    values[row, 1], values[7, 0] = 1e300, np.inf
    cast, (loss,) = narrowed("obs", values)
    assert (loss.kind, loss.columns, loss.rows.tolist()) == ("too-large", (1,), [row])
    assert np.isinf(cast[row, 1])


def test_a_file_is_judged_as_an_array_is(tmp_path):
    values = np.random.default_rng(0).standard_normal((5000, 3))
    values[:, 2] = 1e9 + np.arange(5000)
    values[17, 0] = -1e39
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        dataset = file.create_dataset("obs", data=values, chunks=(700, 2))
        cast, losses = narrowed("obs", dataset)
    wanted, same = narrowed("obs", values)
    np.testing.assert_array_equal(cast, wanted)
    assert [(x.kind, x.columns, x.rows.tolist()) for x in losses] == [
        (x.kind, x.columns, x.rows.tolist()) for x in same
    ]
    assert [(x.kind, x.columns) for x in losses] == [("too-large", (0,)), ("precision", (2,))]


@pytest.mark.parametrize("ending", ["npz", "hdf5"])
def test_loading_refuses_what_is_lost(log, save, tmp_path, ending):
    arrays = log()
    times = START + 1_000_000_000 * np.arange(60)
    clocked = np.concatenate([arrays["observations"], times[:, None]], axis=1)
    path = save(
        tmp_path / f"log.{ending}",
        {**arrays, "observations": clocked, "next_observations": clocked},
    )
    with pytest.raises(DataError, match=r"`obs` of 'log'.*loses \(columns: 3\)\. Subtract a start"):
        load(path)
    large = arrays["rewards"].astype(np.float64)
    large[5] = 1e200
    path = save(tmp_path / f"large.{ending}", {**arrays, "rewards": large})
    with pytest.raises(DataError, match=r"`reward` of 'large' holds numbers too large.*row 5"):
        load(path)
