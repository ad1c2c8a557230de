"""Arrays in memory, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from countmorl.data.aliases import ALIASES, KEYS
from countmorl.data.fields import Fields
from countmorl.data.readers.structure import Names, flattened, named_schema
from countmorl.envs.tasks import Task
from countmorl.errors import DataError, did_you_mean
from countmorl.runs.options import DataOptions


def read_mapping(
    arrays: Mapping[str, Any],
    *,
    name: str = "arrays",
    task: Task | None = None,
    options: DataOptions | None = None,
) -> Fields:
    """Take arrays by name; unknown names are errors, so that a typing slip is not lost.

    Observations and actions may themselves be arrays by name: the names are kept.
    """
    unknown = sorted(str(key) for key in set(arrays) - set(KEYS))
    if unknown:
        raise DataError(
            f"'{name}' holds unknown arrays: {', '.join(unknown)}.{did_you_mean(unknown[0], KEYS)} "
            f"Known: {', '.join(names[0] for names in ALIASES.values())} (or D4RL's names)."
        )
    found, schema = _named(dict(arrays), options or DataOptions())
    return Fields.of({**found, **schema}, name=name, task=task, options=options)


def _named(
    arrays: dict[str, Any], options: DataOptions
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Arrays with dictionaries laid out as columns, and the schema that keeps their names."""
    names: dict[str, Names | None] = {}
    for key, value in arrays.items():
        if isinstance(value, Mapping):
            arrays[key], names[KEYS[key]] = flattened(key, value)
    if not names:
        return arrays, {}
    ours = {KEYS[key]: np.asarray(value) for key, value in arrays.items()}
    if "obs" not in ours or "action" not in ours or "schema" in ours:
        return arrays, {}
    if names.get("next_obs", names.get("obs")) != names.get("obs"):
        raise DataError("`next_obs` has other columns than `obs`; give both the same, in order.")
    schema = named_schema(
        names.get("obs"), names.get("action"), ours["obs"], ours["action"], options.actions
    )
    return arrays, schema
