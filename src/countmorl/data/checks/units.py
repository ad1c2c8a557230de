"""Codes that stand for no number, and columns whose unit changes on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from countmorl.data.checks.common import Timeline, named, of_rows, own_columns
from countmorl.data.fields import Fields
from countmorl.data.findings import Finding

OFTEN = 3
"""How often a value must occur before it is a code and not an accident."""
FAR = 4
"""Deviations of the rest that lie between a code and the rest."""
CODES = tuple(sign * (10**digits - 1) for digits in range(2, 8) for sign in (-1, 1))
"""-99, 99, -999, ... : numbers that nobody measures."""
_LENGTHS_AND_MASSES = (1.609, 2.2046, 3.2808, 12, 25.4, 28.35, 453.6)
_VOLUMES_AND_PRESSURES = (3.785, 6.895, 7.5006)
_TIMES = (3.6, 24, 60, 3600)
_LABORATORY = (18.016, 88.42)
_TENS = (10, 100, 1000, 1e6)
FACTORS = np.log(
    np.sort([*_LENGTHS_AND_MASSES, *_VOLUMES_AND_PRESSURES, *_TIMES, *_LABORATORY, *_TENS])
)
"""Logarithms of the ratios between units of the same quantity: miles, pounds, feet, minutes, ..."""
PARTS = 32


def sentinels(fields: Fields) -> Iterator[Finding]:
    """Extreme values that come again and again, far from all others: -999 for what is missing."""
    for key in ("obs", "action", "reward"):
        if key == "action" and fields.discrete:
            continue
        for index, column in own_columns(fields, key):
            for code in {float(column.min()), float(column.max())}:
                rows = np.flatnonzero(column == np.float32(code))
                # A penalty at an end is a reward like others: only codes are odd there.
                if (key != "reward" or code in CODES) and _is_code(column, rows, code):
                    text = (
                        f"`{key}` {named(fields, key, [index])}: {code:g} stands far from all "
                        "other values; does it mean that nothing was measured?"
                    )
                    yield of_rows("warning", "sentinel", rows, text)


def _is_code(column: np.ndarray, rows: np.ndarray, code: float) -> bool:
    if len(rows) < OFTEN or 2 * len(rows) > len(column):
        return False
    rest = column[column != np.float32(code)].astype(np.float64)
    gap = min(abs(code - rest.min()), abs(code - rest.max()))
    varied = len(np.unique(rest[:10_000])) > 10  # A few values are choices, not measurements.
    if code == -1 and rest.min() >= 0 and varied:
        return bool((rest[:10_000] % 1 != 0).mean() > 0.5 or gap > FAR * rest.std())
    return varied and bool(gap > (1 if code in CODES else FAR) * rest.std())


def unit_jumps(fields: Fields) -> Iterator[Finding]:
    """Columns of which a part is larger than the rest by the ratio of two units."""
    timeline = Timeline.of(fields)
    parts = _parts(timeline)
    for index, column in own_columns(fields, "obs"):
        size = np.abs(column)
        if (size == 0).mean() > 0.1:
            continue
        # Of a zero nobody can tell the unit: the least other size stands in for it.
        level = np.log(np.where(size > 0, size, size[size > 0].min()).astype(np.float64))
        found = _between(level, parts)
        found = _inside(level, column, timeline.within) if found is None else found
        if found is not None:
            row, factor = found
            text = (
                f"`obs` {named(fields, 'obs', [index])}: about {factor:.4g} times larger in one "
                "part of the log than in the other; did the unit change?"
            )
            yield of_rows("warning", "unit-jump", np.array([row]), text)


def _parts(timeline: Timeline) -> np.ndarray | None:
    """First rows of the parts that are compared: episodes, or pieces of few long ones."""
    rows = int(timeline.lengths.sum())
    if len(timeline.starts) >= 6:
        return timeline.starts
    return np.arange(PARTS) * rows // PARTS if rows >= 10 * PARTS else None


def _between(level: np.ndarray, parts: np.ndarray | None) -> tuple[int, float] | None:
    """Two groups of parts, apart by a known ratio and each close together."""
    if parts is None:
        return None
    sizes = np.diff(parts, append=len(level))
    means = np.add.reduceat(level, parts) / sizes
    order = np.argsort(means)
    gaps = np.diff(means[order])
    cut = int(gaps.argmax()) + 1
    low, high = order[:cut], order[cut:]
    ratio = means[high].mean() - means[low].mean()
    few = min(len(low), len(high)) < 2 or min(sizes[low].sum(), sizes[high].sum()) < 0.01 * len(
        level
    )
    if few or gaps.max() < 0.7 * ratio or np.abs(FACTORS - ratio).min() > 0.1:
        return None
    other = high if 0 in low else low
    return int(parts[other.min()]), float(np.exp(ratio))


def _inside(level: np.ndarray, column: np.ndarray, within: np.ndarray) -> tuple[int, float] | None:
    """A row at which a column that otherwise moves little jumps by a known ratio and stays."""
    moves = np.where(within & (np.sign(column[1:]) == np.sign(column[:-1])), np.diff(level), 0)
    size = np.abs(moves)
    if len(size) < 50 or (size > 0).mean() < 0.5:
        return None
    usual = np.quantile(size, 0.99, method="lower")
    # Near zero every ratio is large: a jump has to be one in the column's own unit, too.
    changes = np.abs(np.where(within, np.diff(column), 0))
    jumps = changes > 5 * np.quantile(changes, 0.99, method="lower")
    large = np.flatnonzero(jumps & (size > max(4 * usual, FACTORS[0] - 0.05)))
    if len(large) > max(3, 0.005 * len(size)):
        return None
    for row in large[:20].tolist():
        near = FACTORS[np.abs(FACTORS - size[row]).argmin()]
        before, after = level[max(0, row - 4) : row + 1], level[row + 1 : row + 6]
        stays = abs(after.mean() - before.mean()) > 0.8 * near
        if abs(near - size[row]) < 0.05 and stays and len(before) > 2 and len(after) > 2:
            return row + 1, float(np.exp(size[row]))
    return None
