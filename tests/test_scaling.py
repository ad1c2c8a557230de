import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.scaling import Standardizer, reward_unit

VALUES = np.array([[1, 7], [3, 7], [5, 7], [7, 7]], np.float32)


def test_mean_and_std_by_hand():
    fitted = Standardizer.fit(VALUES)
    assert fitted.mean.tolist() == [4, 7]
    # Deviations -3, -1, 1, 3: variance 20 / 4 = 5. The constant column is its own unit.
    np.testing.assert_allclose(fitted.std, [5**0.5, 7], rtol=1e-6)
    assert Standardizer.fit(np.zeros((3, 1), np.float32)).std.tolist() == [1]


def test_what_never_varies_is_exact_where_that_is_asked_for():
    exact = Standardizer.fit(VALUES, exact=True)
    np.testing.assert_allclose(Standardizer.fit(VALUES, exact=True).std, [5**0.5, 0], rtol=1e-6)
    assert exact.invert(jnp.array([[0.0, 3.0], [0.0, -5.0]])).tolist() == [[4, 7], [4, 7]]
    assert exact(VALUES)[:, 1].tolist() == [0, 0, 0, 0]


def test_a_column_that_varies_by_rounding_alone_is_constant():
    values = np.full((8, 1), 300, np.float32)
    values[0] = np.nextafter(np.float32(300), np.float32(301))
    assert Standardizer.fit(values).std.tolist() == [300]


@pytest.mark.parametrize("power", [-20, -1, 3, 30])
def test_a_power_of_two_changes_no_bit(power):
    values = np.random.default_rng(0).normal(50, 3, (500, 2)).astype(np.float32)
    factors = np.array([2.0**power, 4.0], np.float32)
    scaled = Standardizer.fit(values * factors)(values * factors)
    np.testing.assert_array_equal(scaled, Standardizer.fit(values)(values))


def test_the_unit_of_rewards_by_hand():
    # Root mean square of 3, 4: sqrt(12.5); a third of it.
    assert reward_unit(np.array([3, -4], np.float32)) == pytest.approx(12.5**0.5 / 3)
    assert reward_unit(np.zeros(4, np.float32)) == 1


def test_standardised_columns_have_mean_0_and_std_1():
    values = np.random.default_rng(0).normal(50, 3, (500, 2)).astype(np.float32)
    scaled = np.asarray(Standardizer.fit(values)(jnp.asarray(values)))
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(scaled.std(axis=0), 1, atol=1e-4)


@given(st.lists(st.floats(-100, 100, width=32), min_size=2, max_size=2))
def test_invert_undoes_it(row):
    fitted = Standardizer.fit(VALUES)
    np.testing.assert_allclose(fitted.invert(fitted(jnp.asarray(row))), row, atol=1e-4)


def test_a_row_is_treated_like_a_row_of_a_batch():
    fitted = Standardizer.fit(VALUES)
    batch = jnp.asarray(VALUES)
    np.testing.assert_array_equal(fitted(batch)[2], fitted(batch[2]))


def test_identity_changes_nothing():
    assert Standardizer.identity(2)(jnp.asarray([3.0, -4.0])).tolist() == [3, -4]


def test_large_offsets_do_not_spoil_the_std():
    # float32 sums would lose the deviations: 0 and 2 around a million.
    values = np.tile(np.array([[1e6], [1e6 + 2]], np.float32), (50_000, 1))
    fitted = Standardizer.fit(values)
    assert float(fitted.mean[0]) == 1e6 + 1
    assert float(fitted.std[0]) == pytest.approx(1)
