"""Actions of a log: vectors within bounds, or numbers 0 to K - 1; how they were told apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.data.columns import as_flat, as_numbers
from countmorl.errors import DataError
from countmorl.runs.options import ActionKind
from countmorl.spaces import MOST_ACTIONS, one_hot

FEW = 20
"""Whole numbers are choices where there are at most so many of them; more are a quantity."""
USED = 0.75
"""Share of the numbers 0 to K - 1 that must occur before they are taken as choices."""
STRETCH = 10
"""How many times the usual range makes the whole range the work of a few wrong rows."""
RARE = 0.001
"""Share of the rows, at either end, that does not count as usual."""


@dataclass(frozen=True)
class Understood:
    """What kind the actions are, and why they are taken so."""

    count: int | None
    """How many discrete actions there are; None where actions are vectors."""
    note: str
    doubt: str = ""
    """What else they could be, where type and values do not tell."""


def understand(arrays: dict[str, np.ndarray], wanted: ActionKind | None = None) -> Understood:
    """Tell discrete actions from quantities, as the user says, the file says, or the values show.

    A person who logs choices numbers them 0, 1, 2, ... and takes nearly all of them at times. A
    dose or a speed that was logged in whole numbers has many values or gaps. Floats are a
    quantity, but for a column of both 0.0 and 1.0, which is a switch.
    """
    values = arrays["action"]
    if wanted == "continuous":
        return Understood(None, "a quantity, as was said")
    if "action_count" in arrays:
        count = _given_count(arrays["action_count"])
        return Understood(count, f"{count} discrete actions, as `action_count` says")
    if wanted == "discrete":
        count = _said_count(values)
        return Understood(count, f"{count} discrete actions, as was said")
    if "action_low" in arrays or "action_high" in arrays:
        return Understood(None, "a quantity, since bounds are given")
    column = values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1)
    if not column or not len(values) or values.dtype.kind not in "iubf":
        return Understood(None, "vectors of numbers")
    return _by_values(values.reshape(-1))


def _by_values(values: np.ndarray) -> Understood:
    """One column without bounds."""
    if values.dtype.kind == "b":
        return Understood(2, "one column of true and false: 2 discrete actions")
    low, high = values.min(), values.max()
    # Counting distinct values of a large column is slow: its range rules most of them out.
    few = 0 <= low and high < FEW
    distinct = np.unique(values) if few else np.empty(0)
    if values.dtype.kind == "f":
        return _by_floats(distinct)
    if not few:
        text = f"one column of whole numbers from {low} to {high}: taken as a quantity"
        return Understood(None, text, _doubt("discrete") if 0 <= low and high < 3 * FEW else "")
    return _by_whole_numbers(len(distinct), int(high))


def _by_floats(distinct: np.ndarray) -> Understood:
    if not len(distinct) or (distinct != np.floor(distinct)).any():
        return Understood(None, "one column of numbers: a quantity")
    if distinct.tolist() == [0, 1]:
        return Understood(2, "one column of 0.0 and 1.0: 2 discrete actions")
    low, high = distinct[0], distinct[-1]
    text = f"one column of floats that are whole, {low:g} to {high:g}: taken as a quantity"
    return Understood(None, text, _doubt("discrete") if low < high else "")


def _by_whole_numbers(distinct: int, high: int) -> Understood:
    count = max(2, high + 1)
    if distinct == high + 1:
        text = f"one column of whole numbers from 0 to {high} without bounds"
        return Understood(count, f"{text}: {count} discrete actions")
    told = f"one column of whole numbers, {distinct} of those from 0 to {high}"
    if distinct >= USED * (high + 1):
        text = f"{told}: {count} discrete actions, some never taken"
        return Understood(count, text, _doubt("continuous"))
    return Understood(None, f"{told}: taken as a quantity", _doubt("discrete"))


def _doubt(other: ActionKind) -> str:
    what = "numbers of choices" if other == "discrete" else "a quantity"
    return f"if they are {what}, say --actions {other}"


def _given_count(given: np.ndarray) -> int:
    whole = given.size == 1 and given.dtype.kind in "iu"
    if not whole or not 1 < int(given.item()) <= MOST_ACTIONS:
        raise DataError(f"`action_count` must be one whole number from 2 to {MOST_ACTIONS}.")
    return int(given.item())


def _said_count(values: np.ndarray) -> int:
    """How many choices there are where the user says that actions are choices."""
    wide = values.ndim == 2 and values.shape[1] > 1
    if wide and one_hot_rows(values):
        return values.shape[1]
    numbers = as_numbers("action", values)
    whole = numbers.size and (numbers == np.floor(numbers)).all()
    if wide or not whole or numbers.min() < 0 or numbers.max() >= MOST_ACTIONS:
        raise DataError(
            "Discrete actions are one column of whole numbers from 0 to at most "
            f"{MOST_ACTIONS - 1}; `action` has shape {list(values.shape)} and holds other values. "
            "Number the choices: numpy.unique(action, return_inverse=True)."
        )
    return max(2, int(numbers.max()) + 1)


def one_hot_rows(values: np.ndarray) -> bool:
    """Whether every row is zeros with a single one."""
    if values.ndim != 2 or values.dtype.kind not in "iubf":
        return False
    return bool(((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all())


def one_hot_actions(values: np.ndarray, count: int) -> np.ndarray:
    """Numbered actions as vectors; a number that is none of them is refused."""
    if values.ndim == 2 and values.shape[1] == count and one_hot_rows(values):
        return np.ascontiguousarray(values, np.float32)
    values = as_numbers("action", as_flat("action", values))
    wrong = np.flatnonzero((values != np.floor(values)) | (values < 0) | (values >= count))
    if len(wrong):
        raise DataError(
            f"`action` must hold whole numbers from 0 to {count - 1} (`action_count` is {count}); "
            f"row {wrong[0]:,} holds {values[wrong[0]]:g}."
        )
    return one_hot(values, count)


def action_bound(given: np.ndarray | None, action: np.ndarray) -> np.ndarray | None:
    """A bound of each of the action's numbers; None where the log gives none that is finite."""
    if given is None:
        return None
    bound = as_numbers("action bounds", given)
    if bound.size not in (1, action.shape[1]):
        raise DataError(
            f"The action bounds hold {bound.size} numbers, but an action has {action.shape[1]}."
        )
    whole = np.ascontiguousarray(np.broadcast_to(bound.reshape(-1), action.shape[1:]))
    # Unbounded actions have no bound to keep to: their range in the data is taken instead.
    return whole if np.isfinite(whole).all() else None


def stretched(action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that stretch the range of actions many times beyond what all others need, and columns.

    Bounds taken from such data would press every other action into a sliver of them. The usual
    range lies between the quantiles of 0.1 % and 99.9 %, and leaves out at least one row.
    """
    none = np.empty(0, np.int64)
    if len(action) < 100:  # Of so few rows nobody can tell which are usual.
        return none, none
    usual_low = np.quantile(action, RARE, axis=0, method="higher")
    usual_high = np.quantile(action, 1 - RARE, axis=0, method="lower")
    usual = usual_high - usual_low
    wide = (usual > 0) & (np.ptp(action, axis=0) > STRETCH * usual)
    columns = np.flatnonzero(wide)
    low, high = (usual_low - usual)[columns], (usual_high + usual)[columns]
    outside = (action[:, columns] < low) | (action[:, columns] > high)
    return np.flatnonzero(outside.any(axis=1)), columns
