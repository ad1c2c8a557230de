"""Thin regions: two ranges, each of them common, that were hardly ever logged together.

Every pair of columns is laid out as a grid of places, and every rectangle of it is looked at: the
rows in it, and the rows that would be there if the one column had nothing to do with the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.coverage.axes import Table

COMMON = 0.05
"""Share of the rows that each of the two ranges must hold by itself."""
THIN = 0.1
"""Share of the expected rows below which a region is thin."""
LEAST = 10.0
"""Rows that must be expected before their absence says anything."""
LIFT = 3.0
"""How much denser a rectangle must be in one table than in the other."""
TWICE = 2
"""In how many pairs one column may appear in a list, and how many regions of a pair: the rest would
say the same again."""
MOST_COLUMNS = 40
"""Columns of an observation beyond which their pairs are not looked at."""


@dataclass(frozen=True, kw_only=True)
class Region:
    """Two ranges and how often they were logged together."""

    text: str
    rows: int
    expected: float
    """Rows, if the columns had nothing to do with each other."""

    def as_dict(self) -> dict[str, object]:
        """Return JSON-able values."""
        return {"region": self.text, "rows": self.rows, "expected": self.expected}


@dataclass(frozen=True, kw_only=True)
class Box:
    """A range of each of two columns, by their numbers."""

    columns: tuple[int, int]
    ranges: tuple[int, int]
    gain: float

    def said(self, table: Table) -> str:
        """The ranges in words."""
        parts = [table.axes[c].said(r) for c, r in zip(self.columns, self.ranges, strict=True)]
        return " with ".join(filter(None, parts)) or "anywhere"

    def holds(self, table: Table, numbers: np.ndarray) -> np.ndarray:
        """Which rows of numbers [rows, columns] lie in it."""
        inside = [
            table.axes[c].holds(r, numbers[:, c])
            for c, r in zip(self.columns, self.ranges, strict=True)
        ]
        return inside[0] & inside[1]


def thin_regions(table: Table, numbers: np.ndarray, *, actions: bool, most: int) -> list[Region]:
    """The largest thin regions: of situations and actions, or of situations alone."""
    if not actions and table.observed > MOST_COLUMNS:
        return []
    places = table.places(numbers)
    found: list[tuple[Box, Region]] = []
    for i, j in table.pairs(actions=actions):
        found += _thinnest(table, places, i, j)
    found.sort(key=lambda each: -each[0].gain)
    return [region for _, region in _varied(found)[:most]]


def contrast(
    table: Table,
    inside: np.ndarray,
    outside: np.ndarray,
    *,
    actions: bool = True,
    most: float = 1.0,
) -> Box | None:
    """The rectangle that holds most of one table of numbers and least of the other.

    Its gain is the share of the one less the share of the other, of which the former must be three
    times the latter, and the latter `most` at the most. A range may be a whole column.
    """
    if not len(inside) or not len(outside):
        return None
    here, there = table.places(inside), table.places(outside)
    best: Box | None = None
    for i, j in table.pairs(actions=actions):
        share, usual = (_within(table, e, i, j) / len(e) for e in (here, there))
        fits = (share >= LIFT * usual) & (usual <= most)
        gains = np.where(fits, share - usual, -np.inf)
        at = int(gains.argmax())
        gain = float(gains.flat[at])
        if np.isfinite(gain) and (best is None or gain > best.gain + 1e-12):
            a, b = np.unravel_index(at, gains.shape)
            best = Box(columns=(i, j), ranges=(int(a), int(b)), gain=gain)
    return best


def _thinnest(table: Table, places: np.ndarray, i: int, j: int) -> list[tuple[Box, Region]]:
    """The largest thin regions of two columns that have nothing in common."""
    rows, total = _within(table, places, i, j), len(places)
    # The last range of each column is all of it.
    alone, beside = rows[:, -1] / total, rows[-1] / total
    expected = total * np.outer(alone, beside)
    common = np.outer(alone >= COMMON, beside >= COMMON)
    common[-1], common[:, -1] = False, False
    thin = common & (rows <= THIN * expected) & (expected >= LEAST)
    first, second = table.axes[i].members, table.axes[j].members
    found = []
    while thin.any() and len(found) < TWICE:
        missing = np.where(thin, expected - rows, -np.inf)
        a, b = np.unravel_index(int(missing.argmax()), missing.shape)
        box = Box(columns=(i, j), ranges=(int(a), int(b)), gain=float(missing[a, b]))
        text, count = box.said(table), int(rows[a, b])
        found.append((box, Region(text=text, rows=count, expected=float(expected[a, b]))))
        thin = thin & ~np.outer(first @ first[a] > 0, second @ second[b] > 0)
    return found


def _within(table: Table, places: np.ndarray, i: int, j: int) -> np.ndarray:
    """Rows in every rectangle of two columns, [ranges, ranges]."""
    first, second = table.axes[i], table.axes[j]
    flat = places[:, i] * second.size + places[:, j]
    grid = np.bincount(flat, minlength=first.size * second.size).astype(np.float64)
    return first.members @ grid.reshape(first.size, second.size) @ second.members.T


def _varied(found: list[tuple[Box, Region]]) -> list[tuple[Box, Region]]:
    """Leave out what tells of columns that were told of in two other pairs."""
    told: dict[int, set[tuple[int, int]]] = {}
    kept = []
    for box, region in found:
        pairs = [told.setdefault(column, set()) for column in box.columns]
        if all(box.columns in each or len(each) < TWICE for each in pairs):
            kept.append((box, region))
            for each in pairs:
                each.add(box.columns)
    return kept
