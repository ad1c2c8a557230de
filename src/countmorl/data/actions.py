"""Actions of a log: vectors within bounds, or numbers 0 to K - 1."""

from __future__ import annotations

import numpy as np

from countmorl.data.columns import as_flat, as_numbers
from countmorl.errors import DataError
from countmorl.spaces import MOST_ACTIONS, one_hot


def action_count(arrays: dict[str, np.ndarray]) -> int | None:
    """How many discrete actions there are; None where actions are vectors.

    A file says so by `action_count`; else one column of whole-number type without bounds is taken
    as discrete.
    """
    values, given = arrays["action"], arrays.get("action_count")
    if given is not None:
        if (
            given.size != 1
            or given.dtype.kind not in "iu"
            or not (1 < int(given.item()) <= MOST_ACTIONS)
        ):
            raise DataError(f"`action_count` must be one whole number from 2 to {MOST_ACTIONS}.")
        return int(given.item())
    bounded = "action_low" in arrays or "action_high" in arrays
    column = values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1)
    if bounded or not column or values.dtype.kind not in "iu" or not len(values):
        return None
    if values.min() < 0 or values.max() >= MOST_ACTIONS:
        raise DataError(
            f"`action` holds whole numbers from {values.min()} to {values.max()}, and whole "
            f"numbers without bounds are discrete actions, 0 to at most {MOST_ACTIONS - 1}. Give "
            "`action` as floats, or `action_low` and `action_high`, where it is a quantity."
        )
    return max(2, int(values.max()) + 1)


def one_hot_actions(values: np.ndarray, count: int) -> np.ndarray:
    """Numbered actions as vectors; a number that is none of them is refused."""
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
