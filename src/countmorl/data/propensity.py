"""How likely each logged action was when it was taken, where a log says so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countmorl.data.columns import as_flat, real_numbers, same_rows
from countmorl.errors import DataError

ROUNDED = 1e-6
"""How far beyond 1 single precision rounds a chance that is 1."""
NO_CHANCES = (
    "`propensity` is not used: actions are vectors, and what a log can hold of those are "
    "densities, which are no probabilities"
)


def propensity_of(
    arrays: dict[str, np.ndarray], rows: int, *, discrete: bool
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """The column in single precision where a log has one, and a note where it is of no use."""
    if "propensity" not in arrays:
        return None, ()
    if not discrete:
        return None, (NO_CHANCES,)
    real_numbers("propensity", arrays["propensity"].dtype)
    values = as_flat("propensity", arrays["propensity"])
    same_rows(rows, propensity=values)
    return np.ascontiguousarray(values, np.float32), ()


def impossible(values: np.ndarray) -> np.ndarray:
    """Rows whose number is no chance of something that has happened."""
    return np.flatnonzero(~((values > 0) & (values <= 1 + ROUNDED)))


def checked(values: np.ndarray | None, name: str) -> np.ndarray | None:
    """The column of a log of that name, with nothing beyond 1, or a `DataError`."""
    if values is None:
        return None
    refuse_impossible(values, f"`propensity` of '{name}'", lambda row: f"row {row:,}")
    return np.minimum(values, np.float32(1))


def refuse_impossible(values: np.ndarray, what: str, where: Callable[[int], str]) -> None:
    """Raise where a number is no chance of what has happened; `where` names a row."""
    rows = impossible(values)
    if len(rows):
        more = f" (and in {len(rows) - 1:,} more rows no chance, either)" if len(rows) > 1 else ""
        raise DataError(
            f"{what} is {values[rows[0]]:g} in {where(int(rows[0]))}{more}. It says how likely the "
            "logged action was when it was taken: above 0 and at most 1. Repair such rows, or "
            "leave the column out."
        )


def described(values: np.ndarray | None) -> dict[str, float] | None:
    """The least, the middle and the greatest chance, where a log tells."""
    if values is None:
        return None
    low, middle, high = np.quantile(values, [0, 0.5, 1])
    return {"low": float(low), "median": float(middle), "high": float(high)}
