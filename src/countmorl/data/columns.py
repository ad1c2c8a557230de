"""One array of a log: its type and shape checked."""

from __future__ import annotations

import numpy as np

from countmorl.errors import DataError


def real_numbers(key: str, dtype: np.dtype) -> None:
    """Raise where an array holds anything but real numbers."""
    if dtype.kind not in "fiub":
        raise DataError(
            f"`{key}` holds values of type {dtype}, wanted real numbers. "
            "Convert text, objects and complex numbers before loading."
        )


def as_numbers(key: str, values: np.ndarray) -> np.ndarray:
    """A few real numbers in single precision; whole columns go through `precision.narrowed`."""
    real_numbers(key, values.dtype)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, np.float32)


def as_columns(key: str, values: np.ndarray) -> np.ndarray:
    """[rows, columns], also where a log has one column and no second axis."""
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] == 0:
        raise DataError(
            f"`{key}` has shape {list(values.shape)}, wanted [rows, columns]. "
            "Images are not supported; give features of them."
        )
    return values


def as_flat(key: str, values: np.ndarray) -> np.ndarray:
    """One value per row."""
    flat = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if flat.ndim != 1:
        raise DataError(f"`{key}` has shape {list(values.shape)}, wanted one value per row.")
    return flat


def as_flag(key: str, values: np.ndarray) -> np.ndarray:
    """True or false in each row."""
    values = as_flat(key, values)
    if values.dtype == bool:
        return np.ascontiguousarray(values)
    if values.dtype.kind not in "fiu" or not np.isin(values, (0, 1)).all():
        raise DataError(f"`{key}` must hold only true and false (or 1 and 0).")
    return values.astype(bool)
