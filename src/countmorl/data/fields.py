"""`Fields`: what a reader found in a file, with shapes and types checked but not yet the values.

Readers make `Fields`, `Dataset.of` refuses what cannot be trained on, `check` lists all findings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.data.actions import action_bound, action_count, one_hot_actions
from countmorl.data.columns import as_columns, as_flag, as_flat, as_numbers
from countmorl.envs.tasks import Task
from countmorl.errors import DataError
from countmorl.schema import Schema, schema_of
from countmorl.spaces import SLACK, ActionSpace

ALIASES = {
    "obs": ("obs", "observations", "observation", "states"),
    "action": ("action", "actions"),
    "reward": ("reward", "rewards"),
    "next_obs": ("next_obs", "next_observations", "next_observation", "next_states"),
    "terminated": ("terminated", "terminals", "terminations", "dones"),
    "truncated": ("truncated", "timeouts", "truncations"),
    "next_known": ("next_known",),
    "episode_ends": ("episode_ends",),
    "action_low": ("action_low",),
    "action_high": ("action_high",),
    "action_count": ("action_count",),
    "schema": ("schema",),
}
"""Our names and the names that files give to the same thing, in order of preference."""

REQUIRED = ("obs", "action", "reward")
BLOCK = 100_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Fields:
    """Arrays of one log: float32 numbers, bool flags, one row per step."""

    obs: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    next_obs: np.ndarray | None
    terminated: np.ndarray
    truncated: np.ndarray
    episode_ends: np.ndarray
    next_known: np.ndarray | None = None
    action_low: np.ndarray | None = None
    action_high: np.ndarray | None = None
    discrete: bool = False
    """Actions were numbers 0 to K - 1; `action` holds them as one-hot vectors."""
    name: str = "arrays"
    task: Task | None = None
    schema: Schema | None = None

    @classmethod
    def of(
        cls,
        found: dict[str, np.ndarray],
        *,
        name: str,
        task: Task | None = None,
    ) -> Fields:
        """Check names, types and shapes; give missing flags their meaning."""
        arrays = _rename(found, name)
        count = action_count(arrays)
        if count is not None:
            arrays["action"] = one_hot_actions(arrays["action"], count)
            arrays |= {"action_low": np.array(-1.0), "action_high": np.array(1.0)}
        obs, action = (as_columns(key, as_numbers(key, arrays[key])) for key in ("obs", "action"))
        rows = len(obs)
        if rows == 0:
            raise DataError(f"'{name}' has no rows. A dataset needs at least one transition.")
        reward = as_numbers("reward", as_flat("reward", arrays["reward"]))
        next_obs = arrays.get("next_obs")
        if next_obs is not None:
            next_obs = as_columns("next_obs", as_numbers("next_obs", next_obs))
        none = np.zeros(rows, bool)
        flags = {
            key: as_flag(key, arrays[key]) if key in arrays else none
            for key in ("terminated", "truncated")
        }
        known = as_flag("next_known", arrays["next_known"]) if "next_known" in arrays else None
        _same_rows(rows, action=action, reward=reward, next_obs=next_obs, next_known=known, **flags)
        if next_obs is not None and next_obs.shape != obs.shape:
            raise DataError(
                f"`next_obs` has {next_obs.shape[1]} columns but `obs` has {obs.shape[1]}. "
                "Both hold the same quantities, one step apart."
            )
        return cls(
            obs=obs,
            action=action,
            reward=reward,
            next_obs=next_obs,
            next_known=known,
            episode_ends=_ends(arrays.get("episode_ends"), breaks(obs, next_obs), **flags),
            action_low=action_bound(arrays.get("action_low"), action),
            action_high=action_bound(arrays.get("action_high"), action),
            discrete=count is not None,
            name=name,
            task=task,
            schema=_schema(arrays.get("schema"), obs, action),
            **flags,
        )

    def check_finite(self) -> None:
        """Raise where a number is NaN or infinite, naming rows."""
        for key in ("obs", "action", "reward", "next_obs"):
            rows = not_finite(getattr(self, key))
            if len(rows):
                raise DataError(
                    f"`{key}` of '{self.name}' is NaN or infinite in {len(rows):,} rows, first in "
                    f"row {rows[0]:,}. `countmorl data check` lists them; repair or drop them."
                )

    def next_or_shifted(self) -> tuple[np.ndarray, np.ndarray]:
        """Return next observations and where they are known.

        Without stored ones, a row's next observation is the next row of its episode. At an
        episode's edge it is unknown: the row keeps its own observation there, as a placeholder
        that `next_known` masks. Nothing is invented.
        """
        if self.next_obs is not None:
            known = self.next_known
            return self.next_obs, np.ones(len(self.obs), bool) if known is None else known
        known = np.ones(len(self.obs), bool)
        known[self.episode_ends] = False
        shifted = np.empty_like(self.obs)
        shifted[:-1] = self.obs[1:]
        shifted[self.episode_ends] = self.obs[self.episode_ends]
        return shifted, known

    def action_space(self) -> ActionSpace:
        """Bounds as given; else [-1, 1] if all actions fit, else the range of each column."""
        low, high = self.action_low, self.action_high
        if low is not None and high is not None:
            space = ActionSpace(low=low, high=high, discrete=self.discrete)
            self._check_bounds(space)
            return space
        if np.abs([self.action.min(), self.action.max()]).max() <= 1 + SLACK:
            ones = np.ones(self.action.shape[1], np.float32)
            return ActionSpace(low=-ones, high=ones)
        low, high = self.action.min(axis=0), self.action.max(axis=0)
        return ActionSpace(low=low, high=np.where(high > low, high, low + 1).astype(np.float32))

    def _check_bounds(self, space: ActionSpace) -> None:
        low, high = space.low.tolist(), space.high.tolist()
        if not (space.low < space.high).all():
            raise DataError(f"Action bounds are empty: low {low}, high {high}.")
        outside = space.outside(self.action)
        if outside.any():
            raise DataError(
                f"{outside.sum():,} actions of '{self.name}' lie outside their bounds, first in "
                f"row {outside.argmax():,}: {self.action[outside.argmax()].tolist()} is not within "
                f"{low} and {high}. Correct the bounds or the actions."
            )


def _schema(stored: np.ndarray | None, obs: np.ndarray, action: np.ndarray) -> Schema | None:
    if stored is None:
        return None
    schema = schema_of(stored)
    wanted = (len(schema.obs_names), len(schema.action_numbers))
    if wanted != (obs.shape[1], action.shape[1]):
        raise DataError(
            f"The schema names {wanted[0]} observation and {wanted[1]} action numbers, but the "
            f"arrays hold {obs.shape[1]} and {action.shape[1]}. They belong to different logs."
        )
    return schema


def dims_of(found: dict[str, np.ndarray]) -> tuple[int, int]:
    """Sizes of an observation and of an action, 0 where a file has none."""

    def size(key: str) -> int:
        arrays = [found[name] for name in ALIASES[key] if name in found]
        return arrays[0].shape[-1] if arrays and arrays[0].ndim == 2 else 0

    return size("obs"), size("action")


def not_finite(values: np.ndarray | None) -> np.ndarray:
    """Rows that hold a NaN or an infinity."""
    # The least and the greatest number show any NaN or infinity: two fast passes, no memory.
    if values is None or np.isfinite([values.min(), values.max()]).all():
        return np.empty(0, np.int64)
    return np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))


def _rename(found: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
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
        raise DataError(
            f"'{name}' has no {' and no '.join(f'`{key}`' for key in missing)}. Wanted arrays "
            f"named {wanted}; got {', '.join(sorted(found)) or 'none'}."
        )
    return arrays


def _same_rows(rows: int, **arrays: np.ndarray | None) -> None:
    for key, array in arrays.items():
        if array is not None and len(array) != rows:
            raise DataError(
                f"`{key}` has {len(array):,} rows but `obs` has {rows:,}. Every transition needs "
                "both; did the file drop the last step of an episode?"
            )


def breaks(obs: np.ndarray, next_obs: np.ndarray | None) -> np.ndarray:
    """Mark rows whose stored next observation is not the next row's observation."""
    broken = np.zeros(len(obs), bool)
    if next_obs is not None:
        for start in range(0, len(obs) - 1, BLOCK):  # In blocks, so a large log is not copied.
            stop = min(start + BLOCK, len(obs) - 1)
            differs = next_obs[start:stop].ravel() != obs[start + 1 : stop + 1].ravel()
            # Few numbers differ in a log, so their positions are found faster than a row-wise any.
            broken[start + np.flatnonzero(differs) // obs.shape[1]] = True
    return broken


def _ends(
    given: np.ndarray | None, broken: np.ndarray, terminated: np.ndarray, truncated: np.ndarray
) -> np.ndarray:
    """An episode ends at a flag, where the caller says so, or where the log does not go on."""
    flagged = terminated | truncated | broken
    if given is not None:
        inside = given.dtype.kind in "iu" and given.ndim == 1 and len(given)
        if not inside or given.min() < 0 or given.max() >= len(flagged):
            raise DataError("`episode_ends` must be row numbers of this dataset.")
        flagged[given] = True
    ends = np.flatnonzero(flagged)
    last = len(flagged) - 1
    return ends if len(ends) and ends[-1] == last else np.append(ends, last)
