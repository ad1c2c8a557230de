import numpy as np
import pytest

from countmorl.data.columns import as_columns, as_flag, as_flat, as_numbers, real_numbers
from countmorl.errors import DataError


def test_numbers_become_single_precision_whatever_they_were():
    assert as_numbers("obs", np.array([1, 2], np.int64)).dtype == np.float32
    assert np.isinf(as_numbers("obs", np.array([1e300]))).all()
    with pytest.raises(DataError, match=r"`obs` holds values of type <U1, wanted real numbers"):
        as_numbers("obs", np.array(["a"]))


def test_one_column_needs_no_second_axis():
    assert as_columns("obs", np.zeros(3)).shape == (3, 1)
    with pytest.raises(DataError, match="Images are not supported"):
        as_columns("obs", np.zeros((3, 4, 4)))


def test_one_value_per_row():
    assert as_flat("reward", np.zeros((3, 1))).shape == (3,)
    with pytest.raises(DataError, match=r"shape \[3, 2\], wanted one value per row"):
        as_flat("reward", np.zeros((3, 2)))


def test_flags_are_true_and_false_or_1_and_0():
    assert as_flag("terminated", np.array([0.0, 1.0])).tolist() == [False, True]
    with pytest.raises(DataError, match="only true and false"):
        as_flag("terminated", np.array([0, 2]))


def test_only_real_numbers_are_numbers():
    real_numbers("obs", np.dtype(bool))
    with pytest.raises(DataError, match="complex64, wanted real numbers"):
        real_numbers("obs", np.dtype(np.complex64))
