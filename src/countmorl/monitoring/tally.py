"""Sums over episodes from which every share follows, of one log or of episodes drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from countmorl.monitoring.watched import Column

LEVELS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Shares of the training's rows between which a column's edges lie."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Edges:
    """Values of columns that rows are counted up to: a column's histogram, added up."""

    at: np.ndarray
    """Every edge of every column, the columns one after the other, each rising. [edges]"""
    column: np.ndarray
    """The column of each edge."""

    @classmethod
    def of(cls, values: np.ndarray, columns: tuple[Column, ...]) -> Edges:
        """Edges at the quantiles of each column; where values repeat, at these values."""
        found: list[np.ndarray] = []
        for column, numbers in zip(columns, values.T, strict=True):
            known = numbers[~np.isnan(numbers)]
            levels = np.quantile(known, LEVELS, method="lower") if len(known) else np.zeros(1)
            never = (0.0,) if column.part == "counted" else ()
            edges = np.unique(np.concatenate([never, levels]))
            # Nothing lies above a column's highest value, so an edge there says nothing.
            most = known.max(initial=-np.inf)
            found.append(edges[edges < most] if (edges < most).any() else edges)
        sizes = [len(each) for each in found]
        return cls(at=np.concatenate(found), column=np.repeat(np.arange(len(found)), sizes))

    def problem(self, counted: Sequence[bool]) -> str | None:
        """Why rows of such columns cannot be counted up to these; None where they can.

        `counted` are the columns whose least edge is 0.
        """
        column, at = self.column, self.at
        width = len(counted)
        if column.dtype.kind != "i" or not ((column >= 0) & (column < width)).all():
            return "its edges are of columns that there are not"
        if at.dtype.kind != "f" or not np.isfinite(at).all() or (np.diff(column) < 0).any():
            return "its edges are not in order"
        for place, from_zero in enumerate(counted):
            own = at[column == place]
            if not len(own) or (np.diff(own) <= 0).any() or (from_zero and own[0] != 0):
                return f"column {place} has no edges in order"
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class Tally:
    """What episodes add to each share: one row for each of them, or one for a whole log."""

    below: np.ndarray
    """Rows at or below each edge, [episodes, edges]."""
    known: np.ndarray
    """Rows where each column is known, [episodes, columns]."""
    reward: np.ndarray
    """Sum of the rewards, [episodes]."""

    @classmethod
    def of(cls, values: np.ndarray, starts: np.ndarray, edges: Edges, reward: np.ndarray) -> Tally:
        """Add up the rows from each start to the next."""
        count = len(starts)
        episode = np.repeat(np.arange(count), np.diff(starts, append=len(values)))
        known = ~np.isnan(values)
        below = np.zeros((count, len(edges.at)), np.int64)
        for column in range(values.shape[1]):
            own = np.flatnonzero(edges.column == column)
            has = known[:, column]
            # The place of a value among its column's edges; then rows up to each are added up.
            place = np.searchsorted(edges.at[own], values[has, column], side="left")
            cells = episode[has] * (len(own) + 1) + place
            table = np.bincount(cells, minlength=count * (len(own) + 1))
            below[:, own] = table.reshape(count, -1).cumsum(axis=1)[:, :-1]
        return cls(
            below=below,
            known=np.add.reduceat(known, starts, axis=0, dtype=np.int64),
            reward=np.add.reduceat(reward, starts, dtype=np.float64),
        )

    @property
    def rows(self) -> np.ndarray:
        """Steps of each episode."""
        return self.known.max(axis=1)

    @property
    def problem(self) -> str | None:
        """Why it cannot be added up; None where it can."""
        if self.below.dtype.kind != "i" or self.known.dtype.kind != "i":
            return "what it has counted are no whole numbers"
        most = self.known.max(axis=1, keepdims=True)
        if (self.known < 0).any() or (most < 1).any():
            return "it has episodes without rows"
        if (self.below < 0).any() or (self.below > most).any():
            return "it has counted more rows than there are"
        if self.reward.dtype.kind != "f" or not np.isfinite(self.reward).all():
            return "its rewards are not finite"
        return None

    def __len__(self) -> int:
        return len(self.reward)

    def before(self, other: Tally) -> Tally:
        """These episodes, then others."""
        mine, yours = self.arrays, other.arrays
        return Tally(**{name: np.concatenate([mine[name], yours[name]]) for name in mine})

    def joined(self, starts: np.ndarray) -> Tally:
        """Episodes from each start to the next as one."""
        return Tally(**{n: np.add.reduceat(each, starts) for n, each in self.arrays.items()})

    def some(self, chosen: np.ndarray) -> Tally:
        """Some of the episodes, or some of them several times."""
        return Tally(**{name: value[chosen] for name, value in self.arrays.items()})

    @property
    def whole(self) -> Tally:
        """All episodes as one."""
        return Tally(**{name: value.sum(axis=0)[None] for name, value in self.arrays.items()})

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Every array by name."""
        return {"below": self.below, "known": self.known, "reward": self.reward}


def starts_of(episode: np.ndarray) -> np.ndarray:
    """Rows in which episodes begin."""
    return np.flatnonzero(np.diff(episode, prepend=episode[0] - 1)) if len(episode) else episode
