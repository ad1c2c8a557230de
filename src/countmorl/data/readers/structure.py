"""Observations and actions that come as dictionaries: columns side by side, names kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from countmorl.data.actions import understand
from countmorl.errors import DataError
from countmorl.runs.options import ActionKind
from countmorl.schema import Column, Schema, schema_bytes

Names = tuple[str, ...]


def flattened(key: str, value: Any) -> tuple[np.ndarray, Names | None]:
    """An array as it is; a dictionary of arrays as columns side by side, with their names.

    `{"position": [rows, 2], "speed": [rows]}` becomes position.0, position.1 and speed, in the
    dictionary's own order; inner dictionaries are joined by points.
    """
    if not isinstance(value, Mapping):
        return _array(key, value), None
    named = dict(_columns(key, value, ""))
    if not named:
        raise DataError(f"`{key}` is a dictionary with nothing in it; wanted arrays by name.")
    lengths = {name: len(column) for name, column in named.items()}
    if len(set(lengths.values())) > 1:
        low, high = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise DataError(
            f"`{key}` has {lengths[low]:,} rows of '{low}' but {lengths[high]:,} of '{high}'. "
            "Every column needs the same rows."
        )
    return np.stack(list(named.values()), axis=1), tuple(named)


def _columns(key: str, values: Mapping[str, Any], before: str) -> list[tuple[str, np.ndarray]]:
    found: list[tuple[str, np.ndarray]] = []
    for name, value in values.items():
        whole = f"{before}{name}"
        if isinstance(value, Mapping):
            found += _columns(key, value, f"{whole}.")
            continue
        array = _array(f"{key}.{whole}", value)
        if array.ndim == 1:
            found.append((whole, array))
        elif array.ndim == 2 and array.shape[1] == 1:
            found.append((whole, array[:, 0]))
        elif array.ndim == 2:
            found += [(f"{whole}.{i}", column) for i, column in enumerate(array.T)]
        else:
            raise DataError(
                f"`{key}` holds '{whole}' of shape {list(array.shape)}, wanted [rows] or [rows, "
                "numbers]. Images are not supported; give features of them."
            )
    return found


def _array(key: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise DataError(f"`{key}` has rows of different lengths; wanted one array.") from error
    if array.dtype.kind not in "fiub":
        raise DataError(
            f"`{key}` holds values of type {array.dtype}, wanted real numbers. Give text and "
            "categories as a table: countmorl.from_table."
        )
    return array


def named_schema(
    obs_names: Names | None,
    action_names: Names | None,
    obs: np.ndarray,
    action: np.ndarray,
    wanted: ActionKind | None,
) -> dict[str, np.ndarray]:
    """The schema of a log whose observations or actions came with names, as files store it."""
    if obs_names is None and action_names is None:
        return {}
    count = None if action_names else understand({"action": action}, wanted).count
    if count:
        numbers = tuple(str(i) for i in range(count))
        actions = (Column(name="action", kind="category", values=numbers),)
    else:
        actions = tuple(Column(name=n) for n in action_names or _places("action", action))
    columns = tuple(Column(name=name) for name in obs_names or _places("obs", obs))
    return {"schema": schema_bytes(Schema(obs=columns, action=actions))}


def _places(key: str, values: np.ndarray) -> Names:
    if values.ndim == 1 or values.shape[1] == 1:
        return (key,)
    return tuple(f"{key}.{i}" for i in range(values.shape[1]))
