"""Names of a log's arrays: ours, and what files call the same things."""

from __future__ import annotations

import numpy as np

from countmorl.envs.tasks import Task, task_of_env
from countmorl.errors import DataError

ALIASES = {
    "obs": ("obs", "observations", "observation", "states", "state"),
    "action": ("action", "actions"),
    "reward": ("reward", "rewards"),
    "next_obs": (
        "next_obs",
        "next_observations",
        "next_observation",
        "next_states",
        "next_state",
    ),
    "terminated": ("terminated", "terminals", "terminal", "terminations", "is_terminal"),
    "truncated": ("truncated", "timeouts", "timeout", "truncations"),
    "done": ("done", "dones"),
    "ended": ("is_last", "episode_terminals"),
    "started": ("is_first",),
    "episode": (
        "episode_id",
        "episode_ids",
        "episode",
        "trajectory_id",
        "trajectory_ids",
        "traj_id",
    ),
    "propensity": (
        "propensity",
        "propensities",
        "action_prob",
        "action_probability",
        "behavior_prob",
        "behaviour_prob",
        "pscore",
    ),
    "next_known": ("next_known",),
    "episode_ends": ("episode_ends",),
    "action_low": ("action_low",),
    "action_high": ("action_high",),
    "action_count": ("action_count",),
    "schema": ("schema",),
    "env_id": ("env_id",),
}
"""Our names and the names that files give to the same thing, in order of preference."""

KEYS = {theirs: ours for ours, names in ALIASES.items() for theirs in names}
"""Every name that is understood, with ours for it."""

REQUIRED = ("obs", "action", "reward")

D4RL = {
    "obs": "observations",
    "action": "actions",
    "reward": "rewards",
    "next_obs": "next_observations",
    "terminated": "terminals",
    "truncated": "timeouts",
}
"""What D4RL calls our arrays."""


def renamed(
    found: dict[str, np.ndarray], name: str, unused: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """Arrays by our names; `unused` is what else there is, for the error where one is missing."""
    arrays = {}
    for ours, theirs in ALIASES.items():
        present = [key for key in theirs if key in found]
        if len(present) > 1:
            raise DataError(f"'{name}' holds both '{present[0]}' and '{present[1]}'; give one.")
        if present:
            arrays[ours] = np.asarray(found[present[0]])
    missing = [key for key in REQUIRED if key not in arrays]
    if missing:
        wanted = ", ".join(ALIASES[key][1] for key in (*REQUIRED, "terminated"))
        got = ", ".join((*sorted(found), *unused[:20])) or "none"
        raise DataError(
            f"'{name}' has no {' and no '.join(f'`{key}`' for key in missing)}. Wanted arrays "
            f"named {wanted}; got {got}."
        )
    return arrays


def as_d4rl(found: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The same arrays by D4RL's names, where it has one."""
    arrays: dict[str, np.ndarray] = {}
    first: dict[str, str] = {}
    for key, values in found.items():
        theirs = D4RL.get(KEYS.get(key, key), key)
        if theirs in arrays:
            raise DataError(f"'{name}' holds both '{first[theirs]}' and '{key}'; give one.")
        arrays[theirs], first[theirs] = values, key
    return arrays


def task_named(found: dict[str, np.ndarray]) -> Task | None:
    """The task of the environment that a file of arrays names; nothing is imported for it."""
    stored = found.get("env_id")
    if stored is None:
        return None
    values = np.asarray(stored)
    if values.dtype.kind == "u":  # Byte by byte, as a schema is stored.
        values = np.array(values.astype(np.uint8).tobytes())
    if values.size != 1 or values.dtype.kind not in "SU" or values.dtype.itemsize > 1000:
        raise DataError("`env_id` must hold the id of one Gymnasium environment as text.")
    item = values.item()
    return task_of_env(item.decode("utf-8", "replace") if isinstance(item, bytes) else item)


def dims_of(found: dict[str, np.ndarray]) -> tuple[int, int]:
    """Sizes of an observation and of an action, 0 where a file has none."""

    def size(key: str) -> int:
        arrays = [found[name] for name in ALIASES[key] if name in found]
        return arrays[0].shape[-1] if arrays and arrays[0].ndim == 2 else 0

    return size("obs"), size("action")
