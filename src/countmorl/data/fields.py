"""`Fields`: what a reader found in a file, with shapes and types checked but not yet the values.

Readers make `Fields`, `Dataset.of` refuses what cannot be trained on, `check` lists all findings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.envs.spaces import MOST_ACTIONS, one_hot
from countmorl.envs.tasks import Task
from countmorl.errors import DataError

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
}
"""Our names and the names that files give to the same thing, in order of preference."""

REQUIRED = ("obs", "action", "reward")
BLOCK = 100_000
SLACK = 1e-3
"""Share of the range by which an action may miss its bounds, as rounding does."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Fields:
    """Arrays of one log: float32 numbers, bool flags, one row a step."""

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

    @classmethod
    def of(cls, found: dict[str, np.ndarray], *, name: str, task: Task | None = None) -> Fields:
        """Check names, types and shapes; give missing flags their meaning."""
        arrays = _rename(found, name)
        count = _action_count(arrays)
        if count is not None:
            arrays["action"] = _one_hot(arrays["action"], count)
            arrays |= {"action_low": np.array(-1.0), "action_high": np.array(1.0)}
        numbers = {k: _numbers(k, arrays[k]) for k in ("obs", "action") if k in arrays}
        obs, action = (_columns(key, value) for key, value in numbers.items())
        rows = len(obs)
        if rows == 0:
            raise DataError(f"'{name}' has no rows. A dataset needs at least one transition.")
        reward = _numbers("reward", _flat("reward", arrays["reward"]))
        next_obs = arrays.get("next_obs")
        if next_obs is not None:
            next_obs = _columns("next_obs", _numbers("next_obs", next_obs))
        none = np.zeros(rows, bool)
        flags = {
            key: _flag(key, arrays[key]) if key in arrays else none
            for key in ("terminated", "truncated")
        }
        known = _flag("next_known", arrays["next_known"]) if "next_known" in arrays else None
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
            action_low=_bound(arrays.get("action_low"), action),
            action_high=_bound(arrays.get("action_high"), action),
            discrete=count is not None,
            name=name,
            task=task,
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

    def action_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds as given; else [-1, 1] if all actions fit, else the range of each column."""
        if self.action_low is not None and self.action_high is not None:
            self._check_bounds(self.action_low, self.action_high)
            return self.action_low, self.action_high
        if np.abs([self.action.min(), self.action.max()]).max() <= 1 + SLACK:
            ones = np.ones(self.action.shape[1], np.float32)
            return -ones, ones
        low, high = self.action.min(axis=0), self.action.max(axis=0)
        return low, np.where(high > low, high, low + 1).astype(np.float32)

    def _check_bounds(self, low: np.ndarray, high: np.ndarray) -> None:
        if not (low < high).all():
            raise DataError(f"Action bounds are empty: low {low.tolist()}, high {high.tolist()}.")
        slack = SLACK * (high - low)
        outside = ((self.action < low - slack) | (self.action > high + slack)).any(axis=1)
        if outside.any():
            raise DataError(
                f"{outside.sum():,} actions of '{self.name}' lie outside their bounds, first in "
                f"row {outside.argmax():,}: {self.action[outside.argmax()].tolist()} is not within "
                f"{low.tolist()} and {high.tolist()}. Correct the bounds or the actions."
            )


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


def _action_count(arrays: dict[str, np.ndarray]) -> int | None:
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


def _one_hot(values: np.ndarray, count: int) -> np.ndarray:
    values = _numbers("action", _flat("action", values))
    wrong = np.flatnonzero((values != np.floor(values)) | (values < 0) | (values >= count))
    if len(wrong):
        raise DataError(
            f"`action` must hold whole numbers from 0 to {count - 1} (`action_count` is {count}); "
            f"row {wrong[0]:,} holds {values[wrong[0]]:g}."
        )
    return one_hot(values, count)


def _numbers(key: str, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "fiub":
        raise DataError(
            f"`{key}` holds values of type {values.dtype}, wanted real numbers. "
            "Convert text, objects and complex numbers before loading."
        )
    # A number too large for float32 becomes infinite here and is reported as such.
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, np.float32)


def _columns(key: str, values: np.ndarray) -> np.ndarray:
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] == 0:
        raise DataError(
            f"`{key}` has shape {list(values.shape)}, wanted [rows, columns]. "
            "Images are not supported; give features of them."
        )
    return values


def _flat(key: str, values: np.ndarray) -> np.ndarray:
    flat = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if flat.ndim != 1:
        raise DataError(f"`{key}` has shape {list(values.shape)}, wanted one value a row.")
    return flat


def _flag(key: str, values: np.ndarray) -> np.ndarray:
    values = _flat(key, values)
    if values.dtype == bool:
        return np.ascontiguousarray(values)
    if values.dtype.kind not in "fiu" or not np.isin(values, (0, 1)).all():
        raise DataError(f"`{key}` must hold only true and false (or 1 and 0).")
    return values.astype(bool)


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


def _bound(given: np.ndarray | None, action: np.ndarray) -> np.ndarray | None:
    if given is None:
        return None
    bound = _numbers("action bounds", given)
    if bound.size not in (1, action.shape[1]):
        raise DataError(
            f"The action bounds hold {bound.size} numbers, but an action has {action.shape[1]}."
        )
    whole = np.ascontiguousarray(np.broadcast_to(bound.reshape(-1), action.shape[1:]))
    # Unbounded actions have no bound to keep to: their range in the data is taken instead.
    return whole if np.isfinite(whole).all() else None
