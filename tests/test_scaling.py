import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.scaling import Standardizer

VALUES = np.array([[1, 7], [3, 7], [5, 7], [7, 7]], np.float32)


def test_mean_and_std_by_hand():
    fitted = Standardizer.fit(VALUES)
    assert fitted.mean.tolist() == [4, 7]
    # Deviations -3, -1, 1, 3: variance 20 / 4 = 5. The constant column keeps 1.
    np.testing.assert_allclose(fitted.std, [5**0.5, 1], rtol=1e-6)


def test_the_margin_is_added_to_the_std_of_columns_that_vary():
    np.testing.assert_allclose(Standardizer.fit(VALUES, margin=0.5).std, [5**0.5 + 0.5, 1])


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
