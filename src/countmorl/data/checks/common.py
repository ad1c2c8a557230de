"""What the tests share: how rows and columns are named, and the timeline of the episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from countmorl.data.fields import Fields
from countmorl.data.findings import Finding

Level = Literal["error", "warning"]

SHOWN = 5
FEWEST = 20
"""Of fewer rows, chance explains whatever pattern they show."""


def of_rows(level: Level, kind: str, rows: np.ndarray, text: str) -> Finding:
    """A finding about rows, the first of which are named."""
    first = tuple(int(row) for row in rows[:SHOWN])
    more = ", ..." if len(rows) > SHOWN else ""
    listed = ", ".join(f"{row:,}" for row in first) + more
    plural = "rows" if len(rows) > 1 else "row"
    return Finding(level, kind, f"{text} ({len(rows):,} {plural}: {listed})", first, len(rows))


def of_columns(
    level: Level, kind: str, fields: Fields, key: str, columns: list[int], text: str
) -> Finding:
    """A finding about columns, named as the log names them."""
    said = f"`{key}` {named(fields, key, columns)} {text}"
    return Finding(level, kind, said, count=len(columns))


def named(fields: Fields, key: str, columns: list[int]) -> str:
    """Columns by name, or by their places where they have no names."""
    listed = fields.column_names(key, tuple(columns))
    return f"columns {listed}" if fields.schema else f"columns [{listed}]"


@dataclass(frozen=True, eq=False)
class Timeline:
    """Where the rows of a log stand within their episodes."""

    starts: np.ndarray
    """First row of each episode."""
    lengths: np.ndarray
    within: np.ndarray
    """For every row but the last: whether the next row is of the same episode."""

    @classmethod
    def of(cls, fields: Fields) -> Timeline:
        """The timeline of a log's episodes."""
        ends = fields.episode_ends
        starts = np.append(0, ends[:-1] + 1)
        within = np.ones(len(fields.obs) - 1, bool)
        within[ends[:-1]] = False
        return cls(starts, np.diff(ends, prepend=-1), within)

    def steps(self) -> np.ndarray:
        """Number of each row within its episode, from 0."""
        rows = int(self.lengths.sum())
        return np.arange(rows) - np.repeat(self.starts, self.lengths)


def own_columns(fields: Fields, key: str) -> Iterator[tuple[int, np.ndarray]]:
    """Columns of numbers that are all finite and not all equal, each laid out in one piece.

    What history has copied into an observation is passed over: it was seen in its own column.
    """
    values = getattr(fields, key)
    values = values[:, None] if values.ndim == 1 else values
    count = values.shape[1]
    if key == "obs" and fields.schema:
        count = len(fields.schema.now)
    for index in range(count):
        column = np.ascontiguousarray(values[:, index])
        low, high = column.min(), column.max()
        if np.isfinite(low) and np.isfinite(high) and low < high:
            yield index, column
