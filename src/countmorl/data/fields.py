"""`Fields`: what a reader found in a file, with shapes and types checked but not yet the values.

Readers make `Fields`, `Dataset.of` refuses what cannot be trained on, `check` lists all findings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from countmorl.data.actions import action_bound, one_hot_actions, stretched, understand
from countmorl.data.aliases import KEYS, renamed, task_named
from countmorl.data.columns import as_columns, as_flag, as_flat, same_rows
from countmorl.data.ends import breaks, find_ends
from countmorl.data.precision import LARGEST, Loss, narrowed
from countmorl.data.propensity import propensity_of
from countmorl.envs.tasks import Task
from countmorl.errors import DataError
from countmorl.runs.options import DataOptions
from countmorl.schema import Schema, schema_for
from countmorl.spaces import SLACK, ActionSpace


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
    propensity: np.ndarray | None = None
    """How likely each action was when it was taken; of discrete ones alone."""
    discrete: bool = False
    """Actions were numbers 0 to K - 1; `action` holds them as one-hot vectors."""
    name: str = "arrays"
    task: Task | None = None
    schema: Schema | None = None
    action_note: str = ""
    """How actions were understood, and why."""
    action_doubt: str = ""
    """What else they could be, where type and values do not tell."""
    unused: tuple[str, ...] = ()
    """What the source holds beside these arrays."""
    notes: tuple[str, ...] = ()
    """What else was understood from the source."""
    lost: tuple[Loss, ...] = ()
    """What the cast to 32 bits has lost."""
    returning: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    """Rows at which an episode's id comes back after other ids."""

    @classmethod
    def of(
        cls,
        found: dict[str, np.ndarray],
        *,
        name: str,
        task: Task | None = None,
        options: DataOptions | None = None,
        unused: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        lost: tuple[Loss, ...] = (),
    ) -> Fields:
        """Check names, types and shapes; give missing flags their meaning.

        `unused` names what the source holds beside `found`, `lost` what a reader's own cast lost.
        """
        options = options or DataOptions()
        arrays = renamed(found, name, unused)
        understood = understand(arrays, options.actions)
        if understood.count is not None:
            arrays["action"] = one_hot_actions(arrays["action"], understood.count)
            arrays |= {"action_low": np.array(-1.0), "action_high": np.array(1.0)}
        numbers, lost = _numbers(arrays, lost)
        obs, action, next_obs = numbers["obs"], numbers["action"], numbers.get("next_obs")
        rows = len(obs)
        if rows == 0:
            raise DataError(f"'{name}' has no rows. A dataset needs at least one transition.")
        known = as_flag("next_known", arrays["next_known"]) if "next_known" in arrays else None
        same_rows(rows, **numbers, next_known=known)
        if next_obs is not None and next_obs.shape != obs.shape:
            raise DataError(
                f"`next_obs` has {next_obs.shape[1]} columns but `obs` has {obs.shape[1]}. "
                "Both hold the same quantities, one step apart."
            )
        likely, told = propensity_of(arrays, rows, discrete=understood.count is not None)
        ends = find_ends(arrays, rows, breaks(obs, next_obs), options.done, name)
        return cls(
            obs=obs,
            action=action,
            reward=numbers["reward"],
            next_obs=next_obs,
            next_known=known,
            terminated=ends.terminated,
            truncated=ends.truncated,
            episode_ends=ends.rows,
            action_low=action_bound(arrays.get("action_low"), action),
            action_high=action_bound(arrays.get("action_high"), action),
            propensity=likely,
            discrete=understood.count is not None,
            name=name,
            task=task or task_named(found),
            schema=schema_for(arrays.get("schema"), obs.shape[1], action.shape[1]),
            action_note=understood.note,
            action_doubt=understood.doubt,
            unused=tuple(unused),
            notes=(*notes, *told, *ends.notes),
            lost=lost,
            returning=ends.returning,
        )

    @cached_property  # Once: with thousands of columns, each finding names some of them.
    def obs_names(self) -> tuple[str, ...]:
        """Names of an observation's numbers; their places where the log gave none."""
        if self.schema:
            return self.schema.obs_names
        return tuple(str(i) for i in range(self.obs.shape[1]))

    @cached_property
    def action_names(self) -> tuple[str, ...]:
        """Names of an action's numbers, or of the discrete actions; places where there are none."""
        if self.schema:
            return self.schema.action_numbers
        return tuple(str(i) for i in range(self.action.shape[1]))

    def column_names(self, key: str, columns: tuple[int, ...]) -> str:
        """Say which columns of an array are meant, by name where they have one."""
        if key == "reward":
            return "its one column"
        names = self.action_names if key == "action" else self.obs_names
        shown = [names[column] for column in columns[:8]]
        return ", ".join(shown) + (", ..." if len(columns) > len(shown) else "")

    def check_kept(self) -> None:
        """Raise where numbers of 64 bits do not survive in 32."""
        for loss in self.lost:
            named = self.column_names(loss.key, loss.columns)
            if loss.kind == "too-large":
                raise DataError(
                    f"`{loss.key}` of '{self.name}' holds numbers too large for single precision "
                    f"(beyond 3.4e38) in {len(loss.rows):,} rows, first in row {loss.rows[0]:,} "
                    f"(columns: {named}). Is it a code for a missing value? Else use another unit."
                )
            raise DataError(
                f"`{loss.key}` of '{self.name}' holds numbers whose variation single precision "
                f"loses (columns: {named}). Subtract a start (a first time, a smallest id) or use "
                "differences; drop the column if it is an identifier."
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

    @property
    def bounded(self) -> bool:
        """Whether the log gives the bounds of its actions."""
        return self.action_low is not None and self.action_high is not None

    @property
    def within_one(self) -> bool:
        """Whether actions are bounded by -1 and 1 as those of every D4RL task are."""
        known = self.task is not None and self.task.reference is not None
        return known and bool(np.abs([self.action.min(), self.action.max()]).max() <= 1 + SLACK)

    def action_space(self) -> ActionSpace:
        """Bounds as given; else those of a task of D4RL, or the range of each column.

        Actions that happen to lie within [-1, 1] tell nothing: they would not in another unit.
        """
        low, high = self.action_low, self.action_high
        if low is not None and high is not None:
            space = ActionSpace(low=low, high=high, discrete=self.discrete)
            self._check_width(space)
            self._check_bounds(space)
            return space
        if self.within_one:
            ones = np.ones(self.action.shape[1], np.float32)
            return ActionSpace(low=-ones, high=ones)
        self._check_stretch()
        low, high = self.action.min(axis=0), self.action.max(axis=0)
        # One that never varied may vary by next to nothing, whatever its unit.
        little = 1e-3 * np.where(low == 0, 1, np.abs(low))
        high = np.where(high > low, high, low + little)
        return self._check_width(ActionSpace(low=low, high=high.astype(np.float32)))

    def _check_width(self, space: ActionSpace) -> ActionSpace:
        """Raise where bounds are so far apart that scaling actions to [-1, 1] overflows."""
        low, high = np.float64(space.low), np.float64(space.high)
        if (high - low > LARGEST / 4).any():
            raise DataError(
                f"Actions of '{self.name}' go from {low.min():g} to {high.max():g}, which is too "
                "far for single precision. Is that a code for a missing value? Else use another "
                "unit."
            )
        return space

    def describe_actions(self, space: ActionSpace) -> str:
        """How actions were understood and why, and where their bounds come from."""
        if self.discrete:
            return self.action_note
        if self.bounded:
            said = "bounds as given"
        elif self.within_one:
            said = "the task's bounds of -1 and 1"
        else:
            said = "bounds from the data"
        slack = space.slack
        on = (self.action <= space.low + slack) | (self.action >= space.high - slack)
        return f"{self.action_note}; {said}; {on.any(axis=1).mean():.1%} of the rows lie on one"

    def _check_stretch(self) -> None:
        rows, columns = stretched(self.action)
        if len(rows):
            row, named = rows[0], self.column_names("action", tuple(columns.tolist()))
            raise DataError(
                f"{len(rows):,} rows of '{self.name}' hold actions far beyond all others, first "
                f"row {row:,}: {self.action[row].tolist()} (columns: {named}). Bounds taken from "
                "them would make all other actions look alike. Give the bounds (`action_low`, "
                "`action_high`), or repair the rows; `countmorl data check` lists them."
            )

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


def not_finite(values: np.ndarray | None) -> np.ndarray:
    """Rows that hold a NaN or an infinity."""
    # The least and the greatest number show any NaN or infinity: two fast passes, no memory.
    if values is None or np.isfinite([values.min(), values.max()]).all():
        return np.empty(0, np.int64)
    return np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))


def _numbers(
    arrays: dict[str, np.ndarray], lost: tuple[Loss, ...]
) -> tuple[dict[str, np.ndarray], tuple[Loss, ...]]:
    """Every array of numbers in single precision, and what that and the reader's cast lost."""
    numbers, losses = {}, [loss.named(KEYS[loss.key]) for loss in lost if loss.key in KEYS]
    for key in ("obs", "action", "reward", "next_obs"):
        if key in arrays:
            values, more = narrowed(key, arrays[key])
            shape = as_flat if key == "reward" else as_columns
            numbers[key] = shape(key, values)
            losses += more
    flat = {loss.columns for loss in losses if (loss.key, loss.kind) == ("obs", "precision")}
    return numbers, tuple(
        loss  # What is lost of an observation is lost of the next one too: it is said once.
        for loss in losses
        if loss.key in numbers
        and (loss.key, loss.kind, loss.columns in flat) != ("next_obs", "precision", True)
    )
