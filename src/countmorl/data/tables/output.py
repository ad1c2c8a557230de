"""Steps written as the arrays of a dataset, block after block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from countmorl.data.findings import Finding
from countmorl.data.tables.bounds import Bounds, bounds_of, given_bounds
from countmorl.data.tables.encode import Encoder, Reader
from countmorl.data.tables.request import Request
from countmorl.data.tables.steps import Steps
from countmorl.data.tables.survey import Survey
from countmorl.errors import DataError
from countmorl.progress import count_progress
from countmorl.schema import Schema, schema_bytes

CHUNK = 65_536
Make = Callable[[str, tuple[int, ...], type], Any]
"""Makes room for an array, in memory or in a file, by name, shape and type."""


def write_steps(
    found: Survey, steps: Steps, readers: list[Reader], schema: Schema, make: Make
) -> np.ndarray:
    """Write observations and actions; the actions are given back, as they are stored."""
    count, encoder = len(steps.reward), Encoder(found, steps, readers, schema)
    obs = make("observations", (count, len(schema.obs_names)), np.float32)
    size = len(schema.action_numbers)
    actions = np.empty(count, np.int64) if schema.discrete else np.empty((count, size), np.float32)
    done, rows = 0, len(steps.starts)
    with count_progress("writing", rows) as advance:
        for start in range(0, rows, CHUNK):
            stop = min(start + CHUNK, rows)
            seen, acted = encoder.block(start, stop)
            obs[done : done + len(seen)] = seen
            chosen = acted.argmax(axis=1) if schema.discrete else acted
            actions[done : done + len(seen)] = chosen
            done += len(seen)
            advance(stop - start)
    return actions


def write_rest(
    schema: Schema, actions: np.ndarray, bounds: list[Bounds], steps: Steps, make: Make
) -> None:
    """Write everything that is small."""
    arrays = {
        "actions": actions,
        "rewards": steps.reward.astype(np.float32),
        "terminals": steps.terminated,
        "timeouts": steps.truncated,
        "episode_ends": steps.ends,
        "schema": schema_bytes(schema),
    }
    if steps.propensity is not None:
        arrays["propensity"] = steps.propensity.astype(np.float32)
    if schema.discrete:
        arrays["action_count"] = np.array(len(schema.action_numbers))
    else:
        arrays["action_low"] = np.array([each.low for each in bounds], np.float32)
        arrays["action_high"] = np.array([each.high for each in bounds], np.float32)
    for name, values in arrays.items():
        make(name, values.shape, values.dtype.type)[...] = values


def judge_actions(
    schema: Schema, actions: np.ndarray, request: Request, found: Survey, steps: Steps
) -> tuple[list[Bounds], dict[str, float], list[Finding]]:
    """Bounds of each number of an action, or how often each discrete one was taken."""
    taken = None if steps.taken is None else np.flatnonzero(steps.taken)

    def where(step: int) -> str:
        row = step if taken is None else int(taken[step])
        return found.where(row if steps.rows is None else int(steps.rows[row]))

    if schema.discrete:
        column = schema.action[0]
        if request.action_low or request.action_high:
            raise DataError(f"The action '{column.name}' is one of a list and has no bounds.")
        if len(schema.action_numbers) < 2:
            raise DataError(
                f"The action '{column.name}' is '{''.join(column.values)}' in every row. There "
                "must be at least two actions to choose from."
            )
        counts = np.bincount(actions, minlength=len(schema.action_numbers)) / len(actions)
        names = (name.removeprefix(f"{column.name}=") for name in schema.action_numbers)
        return [], dict(zip(names, counts.tolist(), strict=True)), []
    sides = given_bounds(request.action_low, request.action_high, actions.shape[1])
    bounds, findings = [], []
    for name, values, given in zip(schema.action_numbers, actions.T, sides, strict=True):
        each, odd = bounds_of(name, np.ascontiguousarray(values), given, where)
        bounds.append(each)
        findings += odd
    return bounds, {}, findings
