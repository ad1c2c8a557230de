"""What a monitor compares with, and how far a log must move to be noticed, as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from countmorl.monitoring.baseline import Baseline
from countmorl.monitoring.monitor import FALSE_ALARMS, MOVED

SIZES = (5, 20, 100)
"""Episodes of logs for which it is told what would be noticed."""


def baseline_card(baseline: Baseline, *, seed: int = 0) -> dict[str, Any]:
    """Every watched column with its middle value, and by how much its share below must move."""
    pool, about = baseline.pool, baseline.origin
    noticed = {size: _noticed(baseline, size, seed) for size in SIZES}
    reference, columns = pool.reference, []
    for place, column in enumerate(baseline.columns):
        own = np.flatnonzero(pool.edges.column == place)
        if not len(own):
            continue
        middle = own[int(np.abs(reference[own] - 0.5).argmin())]
        columns.append(
            {
                "name": column.name,
                "part": column.part,
                "low": float(baseline.low[place]),
                "high": float(baseline.high[place]),
                "at": float(pool.edges.at[middle]),
                "share": float(reference[middle]),
                "noticed": {str(size): float(each[middle]) for size, each in noticed.items()},
            }
        )
    return {
        "rows": about.rows,
        "episodes": about.episodes,
        "blocks": about.blocks,
        "false_alarms": FALSE_ALARMS,
        "reward": float(reference[-1] * pool.spread),
        "reward_noticed": {
            str(size): float(each[-1] * pool.spread) for size, each in noticed.items()
        },
        "columns": columns,
    }


def _noticed(baseline: Baseline, size: int, seed: int) -> np.ndarray:
    """How far each share must move in a log of so many episodes to be an alarm, [tests]."""
    pool, rng = baseline.pool, np.random.default_rng(seed)
    alike = np.flatnonzero(pool.aside) if pool.aside.any() else np.arange(len(pool.tally))
    chance = pool.by_chance(pool.tally.some(rng.choice(alike, size)), seed=seed)
    return chance.limit(FALSE_ALARMS * MOVED) * chance.spread
