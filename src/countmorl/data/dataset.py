"""`Dataset`: logged transitions, checked once when made, then trusted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from countmorl.data.fields import Fields
from countmorl.data.propensity import checked, described
from countmorl.envs.tasks import Task, mean_and_spread
from countmorl.errors import DataError
from countmorl.files import digest
from countmorl.schema import Schema, action_names, obs_names, schema_bytes, schema_text
from countmorl.spaces import ActionSpace
from countmorl.types import Transition

RowKind = Literal["all", "critic", "model"]
COLUMNS = ("obs", "action", "reward", "next_obs", "terminated", "truncated", "next_known")


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """Logged transitions of one task, in the order they happened.

    Make one with `countmorl.load` or `Dataset.of`; both check it. Arrays are float32, flags bool.
    """

    obs: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    next_obs: np.ndarray
    terminated: np.ndarray
    """The task itself ended here (a fall, a goal)."""
    truncated: np.ndarray
    """The episode was cut here, by a time limit or by whoever logged it; never a termination."""
    next_known: np.ndarray
    """False where the log holds no next observation; such rows teach a model no change."""
    episode_ends: np.ndarray
    """Index of each episode's last row; the last episode may be unfinished."""
    space: ActionSpace
    """Bounds of the actions; where they are discrete, `action` holds one-hot vectors."""
    name: str
    propensity: np.ndarray | None = None
    """How likely each action was when it was taken, where a log of discrete ones says so."""
    task: Task | None = None
    schema: Schema | None = None
    """What the columns mean, where the log came from a table."""
    unused: tuple[str, ...] = ()
    """What the source holds and nothing here uses: arrays of other names, groups."""
    notes: tuple[str, ...] = ()
    """How the log was understood, and why, in sentences."""

    @classmethod
    def of(cls, raw: Fields) -> Dataset:
        """Check raw fields and make a dataset of them; a `DataError` says what is wrong."""
        raw.check_kept()
        raw.check_finite()
        space = raw.action_space()
        next_obs, known = raw.next_or_shifted()
        return cls(
            obs=raw.obs,
            action=raw.action,
            reward=raw.reward,
            next_obs=next_obs,
            terminated=raw.terminated,
            truncated=raw.truncated,
            next_known=known,
            episode_ends=raw.episode_ends,
            space=space,
            name=raw.name,
            propensity=checked(raw.propensity, raw.name),
            task=raw.task,
            schema=raw.schema,
            unused=raw.unused,
            notes=(f"actions: {raw.describe_actions(space)}", *raw.notes),
        )

    def __len__(self) -> int:
        return len(self.reward)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {len(self):,} rows, {len(self.episode_ends):,} episodes, "
            f"obs {self.obs_dim}, action {self.action_dim})"
        )

    @property
    def obs_dim(self) -> int:
        """Numbers in one observation."""
        return self.obs.shape[1]

    @property
    def action_dim(self) -> int:
        """Numbers in one action; how many actions there are where they are discrete."""
        return self.action.shape[1]

    @property
    def discrete(self) -> bool:
        """Whether actions are numbers 0 to `action_dim` - 1."""
        return self.space.discrete

    @property
    def learnable(self) -> np.ndarray:
        """Rows that teach a reward and an end: an end needs no next observation to do so."""
        return self.next_known | self.terminated

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Every array with one entry per row, by name."""
        own = {} if self.propensity is None else {"propensity": self.propensity}
        return {name: getattr(self, name) for name in COLUMNS} | own

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Every array by name."""
        bounds = {"action_low": self.space.low, "action_high": self.space.high}
        return self.columns | {"episode_ends": self.episode_ends} | bounds

    @property
    def stored(self) -> dict[str, np.ndarray]:
        """Every array as files hold it: a discrete action is its number."""
        schema = {"schema": schema_bytes(self.schema)} if self.schema else {}
        if not self.discrete:
            return self.arrays | schema
        arrays = self.columns | {"episode_ends": self.episode_ends} | schema
        return arrays | {"action": self.space.actions(self.action)} | self.space.fields

    @property
    def obs_names(self) -> tuple[str, ...]:
        """Names of an observation's numbers; their places where the log gave none."""
        return obs_names(self.schema, self.obs_dim)

    @property
    def action_names(self) -> tuple[str, ...]:
        """Names of an action's numbers, or of the discrete actions."""
        return action_names(self.schema, self.action_dim)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the contents, whatever file or name they came from."""
        meaning = schema_text(self.schema) if self.schema else ""
        return digest(self.arrays, ("discrete" if self.discrete else "") + meaning)

    def with_task(self, task: Task | None) -> Dataset:
        """Return the same data with another task to be judged on."""
        sizes = (self.obs_dim, self.action_dim)
        if task and task.dims and (task.dims != sizes or self.discrete):
            kind = "discrete actions" if self.discrete else "action numbers"
            raise DataError(
                f"Task '{task.name}' has {task.dims[0]} observation and {task.dims[1]} action "
                f"numbers, but '{self.name}' has {self.obs_dim} and {self.action_dim} {kind}. "
                "Give the task the data was logged on, or none."
            )
        return replace(self, task=task)

    def first(self, rows: int) -> Dataset:
        """Return the first `rows` rows; the last episode may then be unfinished."""
        if rows < 1:
            raise DataError(f"`rows` must be at least 1, got {rows}.")
        if rows >= len(self):
            return self
        ends = self.episode_ends[self.episode_ends < rows]
        if not len(ends) or ends[-1] != rows - 1:
            ends = np.append(ends, rows - 1)
        cut = {name: column[:rows] for name, column in self.columns.items()}
        return replace(self, episode_ends=ends, name=f"{self.name}[:{rows}]", **cut)

    def of_episodes(self, chosen: np.ndarray) -> Dataset:
        """Return some of the episodes, chosen by a flag each, in their order."""
        lengths = np.diff(self.episode_ends, prepend=-1)
        rows = np.repeat(chosen, lengths)
        kept = {name: column[rows] for name, column in self.columns.items()}
        return replace(self, episode_ends=np.cumsum(lengths[chosen]) - 1, **kept)

    def transitions(self, rows: RowKind = "all") -> Transition:
        """Return steps with actions scaled to [-1, 1], for whom they are good.

        `all` for imitation; `critic` where the next observation is known or not needed because
        the task ended; `model` only where it is known.
        """
        keep = self.kept(rows)
        if not keep.any():
            raise self._imitation_only()
        step = Transition(
            self.obs, self.space.scaled(self.action), self.reward, self.next_obs, self.terminated
        )
        return step if keep.all() else Transition(*(field[keep] for field in step))

    def known_among(self, rows: RowKind) -> np.ndarray:
        """Tell which of those steps have a known next observation."""
        return self.next_known[self.kept(rows)]

    def goes_on(self, rows: RowKind) -> np.ndarray:
        """Tell which of those steps are followed by the next of them."""
        ends = np.zeros(len(self), bool)
        ends[self.episode_ends] = True
        kept = np.flatnonzero(self.kept(rows))
        return np.append(np.diff(kept) == 1, False) & ~ends[kept]

    def require_successors(self) -> None:
        """Refuse a log in which no step has a known next observation."""
        if not self.next_known.any():
            raise self._imitation_only()

    def kept(self, rows: RowKind) -> np.ndarray:
        """Tell which rows are good for that."""
        return {
            "all": np.ones_like(self.next_known),
            "critic": self.learnable,
            "model": self.next_known,
        }[rows]

    def _imitation_only(self) -> DataError:
        return DataError(
            f"'{self.name}' has no row whose next observation is known, so nothing but "
            "imitation can learn from it."
        )

    @cached_property
    def returns(self) -> np.ndarray:
        """Undiscounted return of each finished episode (of the unfinished one if it is alone)."""
        totals = np.cumsum(self.reward, dtype=np.float64)[self.episode_ends]
        return np.diff(totals, prepend=0.0)[self.finished]

    @property
    def earned(self) -> tuple[float | None, float | None]:
        """Mean return of the finished episodes, and the same in points where there are such."""
        if not len(self.returns):
            return None, None
        mean = float(self.returns.mean())
        return mean, self.task.score(mean) if self.task else None

    @cached_property
    def lengths(self) -> np.ndarray:
        """Number of steps of each finished episode (of the unfinished one if it is alone)."""
        return np.diff(self.episode_ends, prepend=-1)[self.finished]

    @property
    def finished(self) -> np.ndarray:
        """Which episodes came to their end; all of them where none did."""
        finished = (self.terminated | self.truncated)[self.episode_ends]
        return finished if finished.any() else np.ones_like(finished)

    def card(self) -> dict[str, Any]:
        """Summarise the dataset: sizes, episodes, behaviour, ranges, hash."""
        mean, spread = mean_and_spread(self.returns)
        low, high = float(self.returns.min()), float(self.returns.max())
        score = self.task.score(mean) if self.task else None
        score_spread = self.task.score_spread(spread) if self.task else None
        lengths = self.lengths
        return {
            "name": self.name,
            "rows": len(self),
            "episodes": len(self.episode_ends),
            "finished_episodes": len(self.returns),
            "obs_dim": self.obs_dim,
            "action_dim": self.action_dim,
            "discrete": self.discrete,
            "task": self.task.name if self.task else None,
            "env": self.task.env_id if self.task else None,
            "terminated": int(self.terminated.sum()),
            "truncated": int(self.truncated.sum()),
            "next_unknown": int((~self.next_known).sum()),
            "propensity": described(self.propensity),
            "length": {
                "mean": float(lengths.mean()),
                "min": int(lengths.min()),
                "max": int(lengths.max()),
            },
            "return": {"mean": mean, "std": spread, "min": low, "max": high},
            "score": {"mean": score, "std": score_spread},
            "obs_range": _ranges(self.obs),
            "action_range": _ranges(self.action),
            "action_bounds": {
                "low": self.space.low.tolist(),
                "high": self.space.high.tolist(),
            },
            "reward_range": _ranges(self.reward[:, None]),
            "notes": list(self.notes),
            "unused": list(self.unused),
            "hash": self.hash,
        }


def _ranges(values: np.ndarray) -> dict[str, list[float]]:
    return {
        "low": values.min(axis=0).tolist(),
        "high": values.max(axis=0).tolist(),
        "mean": values.mean(axis=0, dtype=np.float64).tolist(),
        "std": values.std(axis=0, dtype=np.float64).tolist(),
    }
