"""Actions by name: what a policy answers, and what a user says was done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from countmorl.errors import DataError, did_you_mean
from countmorl.runtime.values import plain, shown, to_number, to_place
from countmorl.schema import Schema
from countmorl.spaces import one_hot

NamedAction = str | dict[str, float]
"""The name of a discrete action, or the numbers of a vector by name."""


def name_action(schema: Schema, action: Any) -> NamedAction:
    """An action of a policy, a number or a vector, by name."""
    names = schema.action_names
    if schema.discrete:
        return names[int(action)]
    return dict(zip(names, np.asarray(action).tolist(), strict=True))


def is_nobodys(action: Any) -> bool:
    """Whether nobody acts: a guard that abstains answers with -1, or with what is no number."""
    found = np.asarray(action, np.float64)
    return bool(np.isnan(found).any() if found.ndim else found < 0 or np.isnan(found))


def action_vector(schema: Schema, action: Any) -> np.ndarray:
    """An action's vector, from its name or number, or from its numbers by name or in order."""
    size = len(schema.action_numbers)
    if schema.discrete:
        return one_hot(np.array(_discrete(schema, plain(action), size)), size)
    if isinstance(action, Mapping):
        numbers = [_number(schema, action, name) for name in schema.action_numbers]
    else:
        numbers = action
    try:
        vector = np.array(numbers, np.float32).reshape(-1)
    except (TypeError, ValueError):
        vector = np.empty(0, np.float32)
    if len(vector) != size or not np.isfinite(vector).all():
        wanted = ", ".join(schema.action_numbers)
        raise DataError(f"An action has {size} finite numbers ({wanted}), got {shown(action)}.")
    return vector


def first_action(schema: Schema) -> np.ndarray:
    """What is taken to have been done before an episode's first step."""
    if schema.discrete:
        return np.zeros(len(schema.action_numbers), np.float32)
    fills = {column.name: column.fill or 0.0 for column in schema.action}
    return np.array([fills.get(name, 0.0) for name in schema.action_numbers], np.float32)


def _discrete(schema: Schema, action: Any, size: int) -> int:
    if isinstance(action, (str, bool)):
        return int(to_place(schema.action[0], action))
    if isinstance(action, int) and 0 <= action < size:
        return action
    raise DataError(
        f"An action is one of {', '.join(schema.action_names)}, or its number from 0 to "
        f"{size - 1}; got {shown(action)}."
    )


def _number(schema: Schema, action: Mapping[Any, Any], name: str) -> float:
    if name not in action:
        others = [key for key in action if isinstance(key, str)]
        raise DataError(f"The action has no '{name}'.{did_you_mean(name, others)}")
    column = next((c for c in schema.action if c.name == name), schema.action[0])
    return to_number(column, plain(action[name]))
