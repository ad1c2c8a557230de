"""Statistics over runs and tasks (Agarwal et al., NeurIPS 2021), with SciPy alone.

Scores of one method are a list of tasks, each with one number per seed. A seed is the unit: every
interval comes from drawing seeds again, task by task (a bootstrap stratified by task), percentiles
2.5 and 97.5. The draws are the same every time, so the same runs give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import bootstrap, trim_mean

Scores = Sequence[Sequence[float]]
"""One list of seeds' scores per task."""
RESAMPLES = 2000
CONFIDENCE = 0.95
TRIMMED = 0.25
"""Share that the interquartile mean leaves out at either end."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A number and its 95 % interval; none where a task has a single seed."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Share of runs with a score above each tau."""

    taus: tuple[float, ...]
    shares: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None


def iqm(scores: Scores) -> Interval:
    """Interquartile mean: the mean of the middle half of all runs on all tasks."""
    return _interval(scores, lambda tasks: trim_mean(np.concatenate(tasks, -1), TRIMMED, axis=-1))


def mean(scores: Scores) -> Interval:
    """Mean over tasks of the means over seeds."""
    return _interval(scores, lambda tasks: _task_means(tasks).mean(0))


def median(scores: Scores) -> Interval:
    """Median over tasks of the means over seeds."""
    return _interval(scores, lambda tasks: np.median(_task_means(tasks), axis=0))


def profile(scores: Scores, taus: Sequence[float]) -> Profile:
    """Performance profile: the share of all runs on all tasks with a score above tau."""
    above = np.asarray(taus, float)[:, None, None]

    def shares(tasks: Sequence[np.ndarray]) -> np.ndarray:
        every = np.atleast_2d(np.concatenate(tasks, -1))
        return (every > above).mean(-1)

    value = tuple(shares(_arrays(scores))[:, 0].tolist())
    if not has_interval(scores):
        return Profile(taus=tuple(taus), shares=value)
    low, high = _bounds(scores, shares)
    return Profile(taus=tuple(taus), shares=value, low=_tuple(low), high=_tuple(high))


def improvement(ours: Scores, theirs: Scores) -> Interval:
    """P(X > Y): the chance that a run of X beats a run of Y on a task, mean over tasks.

    On a task with n and m seeds it is U / (n m) with Mann and Whitney's U: the share of pairs of
    runs that X wins, where a tie counts a half. Both have the same tasks, in the same order.
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} and {len(theirs)} tasks; both need the same.")
    tasks = len(ours)

    def share(both: Sequence[np.ndarray]) -> np.ndarray:
        pairs = zip(both[:tasks], both[tasks:], strict=True)
        return np.asarray(np.mean([_wins(x, y) for x, y in pairs], axis=0))

    return _interval([*ours, *theirs], share)


def has_interval(scores: Scores) -> bool:
    """Whether there is anything to draw again: two seeds or more on every task."""
    return min(map(len, scores), default=0) > 1


def _wins(x: np.ndarray, y: np.ndarray) -> np.ndarray | np.floating:
    x, y = x[..., :, None], y[..., None, :]
    return ((x > y) + 0.5 * (x == y)).mean((-2, -1))


def _task_means(tasks: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack([task.mean(-1) for task in tasks])


def _interval(scores: Scores, statistic: Callable[[Sequence[np.ndarray]], np.ndarray]) -> Interval:
    value = float(statistic(_arrays(scores)))
    if not has_interval(scores):
        return Interval(value=value)
    low, high = _bounds(scores, statistic)
    return Interval(value=value, low=float(low), high=float(high))


def _bounds(
    scores: Scores, statistic: Callable[[Sequence[np.ndarray]], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    drawn = bootstrap(
        _arrays(scores),
        lambda *tasks, axis: statistic(tasks),
        vectorized=True,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        random_state=0,  # type: ignore[call-arg]  (`rng` since SciPy 1.15, which still reads it)
    )
    found = drawn.confidence_interval
    return np.asarray(found.low), np.asarray(found.high)


def _arrays(scores: Scores) -> list[np.ndarray]:
    return [np.asarray(task, float) for task in scores]


def _tuple(values: np.ndarray) -> tuple[float, ...]:
    return tuple(np.ravel(values).tolist())
