"""What the log itself earned: the value that every policy has to beat."""

from __future__ import annotations

import numpy as np
from scipy import stats

from countmorl.data.dataset import Dataset
from countmorl.data.rates import blocks
from countmorl.evaluation.base import Estimate, Opinion, Refusal
from countmorl.evaluation.measure import Measure

DRAWS = 2000
"""Bootstraps behind an interval."""
FEW = 5
"""Fewer episodes than this are taken for one stream, whose blocks are drawn instead."""
LEAST_ROWS = 20
"""A stream of fewer rows says nothing."""


def behaviour(dataset: Dataset, measure: Measure, *, seed: int = 0) -> Opinion:
    """The mean over episodes, its interval by drawing episodes anew.

    A log without episodes, one endless stream, is valued by its mean reward, and its blocks are
    drawn: neighbouring steps are too alike to count as many.
    """
    facts = {"episodes": float(len(dataset.episode_ends)), "rows": float(len(dataset))}
    if len(dataset.episode_ends) >= FEW:
        earned = measure.earned(dataset)
        facts["completed"] = float(np.mean(earned.beyond) / measure.rest(0))
        return Estimate(
            value=float(earned.values.mean()),
            interval=mean_interval(earned.values, seed=seed),
            unit=measure.unit,
            made_by=f"{len(earned.values):,} logged episodes, drawn anew",
            facts=facts,
        )
    made_by = "the log's mean reward, over blocks of its rows"
    if len(dataset) < LEAST_ROWS:
        return Refusal(
            made_by=made_by, why=f"{len(dataset)} rows of one stream say nothing of its mean."
        )
    ends = blocks(len(dataset))
    totals = np.diff(np.cumsum(dataset.reward, dtype=np.float64)[ends], prepend=0.0)
    values = totals / np.diff(ends, prepend=-1) * measure.rest(0)
    return Estimate(
        value=float(dataset.reward.mean(dtype=np.float64) * measure.rest(0)),
        interval=mean_interval(values, seed=seed),
        unit=measure.unit,
        made_by=made_by,
        facts=facts | {"blocks": float(len(values))},
    )


def mean_interval(values: np.ndarray, *, seed: int) -> tuple[float, float]:
    """95 % of the means of samples drawn anew, stretched as Student's t is for few values."""
    rng = np.random.default_rng(seed)
    count = len(values)
    draws = rng.integers(0, count, (DRAWS, count)) if count <= 2000 else None
    if draws is not None:
        means = values[draws].mean(axis=1)
    else:  # Of thousands the means are normal, and drawing them would take long.
        means = values.mean() + values.std(ddof=1) / count**0.5 * rng.standard_normal(DRAWS)
    return stretched(means, float(values.mean()), count)


def stretched(draws: np.ndarray, centre: float, count: int) -> tuple[float, float]:
    """The middle 95 % of bootstraps around a centre, stretched for a sample of `count`."""
    low, high = np.quantile(draws, [0.025, 0.975])
    few = max(1, count - 1)
    wider = float(stats.t.ppf(0.975, few) / stats.norm.ppf(0.975) * (count / few) ** 0.5)
    return centre - wider * (centre - float(low)), centre + wider * (float(high) - centre)
