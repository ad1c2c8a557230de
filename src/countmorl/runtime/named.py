"""Columns with names, from a mapping or a DataFrame, put in the order that a policy wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from countmorl.errors import DataError, did_you_mean


@runtime_checkable
class Frame(Protocol):
    """A DataFrame, whoever made it."""

    @property
    def columns(self) -> Any:
        """Names of its columns."""
        ...

    def __getitem__(self, key: Any, /) -> Any:
        """The column of a name."""
        ...


def names_of(given: Any) -> tuple[Any, ...] | None:
    """Names that an object gives to its columns; None where it has none, as an array."""
    if isinstance(given, np.ndarray):
        return given.dtype.names
    if isinstance(given, Mapping):
        return tuple(given)
    names: Any = getattr(given, "column_names", None)  # Arrow's `columns` are not the names.
    if names is None:
        names = getattr(given, "columns", None)
    if names is None and callable(getattr(given, "keys", None)):
        names = given.keys()  # One row of a DataFrame.
    if names is None:
        return None
    # A DataFrame that was made of an array has numbers for names.
    return tuple(names) if any(isinstance(name, str) for name in names) else None


def in_order(given: Any, wanted: Sequence[str]) -> np.ndarray:
    """The wanted columns, [wanted] or [rows, wanted]; others are passed over."""
    names = names_of(given) or ()
    lacking = [name for name in wanted if name not in names]
    if lacking:
        others = [name for name in names if isinstance(name, str) and name not in wanted]
        more = len(lacking) - 1
        others_too = f", nor {more} other{'s' if more > 1 else ''} of {len(wanted)}" if more else ""
        raise DataError(
            f"The observations have no column '{lacking[0]}'{others_too}."
            f"{did_you_mean(lacking[0], others)} `act` takes the policy's own numbers by name "
            "(`policy.obs_names`); `act_row` and `act_rows` take rows as the log holds them."
        )
    columns = [_numbers(name, given[name]) for name in wanted]
    for name, column in zip(wanted, columns, strict=True):
        if column.shape != columns[0].shape or column.ndim > 1:
            raise DataError(
                f"The column '{name}' has the shape {list(column.shape)}, and '{wanted[0]}' "
                f"{list(columns[0].shape)}. Wanted one number of each, or as many of each as rows."
            )
    return np.stack(columns, axis=-1)


def as_numbers(given: Any) -> np.ndarray:
    """A plain array of finite numbers; what is none is refused: an actuator may be behind it."""
    try:
        numbers = _float32(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"Observations are arrays of numbers; got {type(given).__name__}, which is not "
            f"({error}). `act_row` and `act_rows` take rows as the log holds them."
        ) from error
    if not np.isfinite(numbers).all():
        place = np.argwhere(~np.isfinite(numbers))[0].tolist()
        raise DataError(
            f"Observations must be finite numbers; the one at {place} is {numbers[tuple(place)]}. "
            "No action is safe for it: repair the value, or leave the step out."
        )
    return numbers


def _float32(values: Any) -> np.ndarray:
    """Numbers as they are. A missing date would be one too, and so would what a mask hides."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    array = np.asarray(values)
    if array.dtype.kind not in "fiubOUS":
        raise TypeError(f"its type is {array.dtype}")
    with np.errstate(over="ignore"):  # What is too large becomes infinite, and is refused as such.
        return array.astype(np.float32, copy=False)


def _numbers(name: str, values: Any) -> np.ndarray:
    try:
        column = _float32(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"The column '{name}' must hold numbers ({error}). `act_row` and `act_rows` take raw "
            "rows, with text and dates."
        ) from error
    if not np.isfinite(column).all():
        raise DataError(
            f"The column '{name}' holds NaN or infinite numbers; `act_row` and `act_rows` fill "
            "missing values as the log's schema says."
        )
    return column
