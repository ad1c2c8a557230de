"""Pairs of observation and action alone: what counting needs of a log, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from countmorl.data.actions import one_hot_rows
from countmorl.data.aliases import KEYS
from countmorl.data.fields import Fields
from countmorl.data.foreign import kind_of, user_path
from countmorl.data.readers import ARRAYS
from countmorl.data.sources import read
from countmorl.errors import DataError
from countmorl.runs.options import DataOptions
from countmorl.spaces import ActionSpace

NEEDED = ("obs", "action", "action_low", "action_high", "action_count", "schema")
WANTED = frozenset(name for name, ours in KEYS.items() if ours in NEEDED)


def load_pairs(source: str | Path, space: ActionSpace) -> Fields:
    """Load the observations and actions of a log; it needs no reward, and no flags are read.

    Where the log does not say itself whether its actions are discrete, `space` does.
    """
    path = user_path(source)
    found: dict[str, Any] = {}
    if (ending := path.suffix.lower()) in ARRAYS and kind_of(path) is not None:
        found, _ = ARRAYS[ending](path, WANTED)
    if {"obs", "action"} <= {KEYS[name] for name in found}:
        fields = _fields(found, path.stem, space)
    else:  # Named data, files of episodes, other formats: whatever their reader gives.
        fields = read(source)
    if fields.discrete != space.discrete:
        kinds = {True: "discrete actions", False: "actions that are vectors"}
        raise DataError(
            f"'{fields.name}' has {kinds[fields.discrete]}, but the run was trained on "
            f"{kinds[space.discrete]}. Give a log of the same task."
        )
    fields.check_kept()
    fields.check_finite()
    return fields


def _fields(found: dict[str, Any], name: str, space: ActionSpace) -> Fields:
    obs, action = (
        next(found[key] for key in found if KEYS[key] == ours) for ours in ("obs", "action")
    )
    whole = found | {"reward": np.zeros(len(np.atleast_1d(obs)), np.float32)}
    vectors = action.ndim == 2 and action.shape[1] > 1 and not one_hot_rows(action)
    if "action_count" in found or (space.discrete and vectors):
        return Fields.of(whole, name=name)
    if space.discrete:
        return Fields.of(whole | {"action_count": np.array(space.size)}, name=name)
    return Fields.of(whole, name=name, options=DataOptions(actions="continuous"))
