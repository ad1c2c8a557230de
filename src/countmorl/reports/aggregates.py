"""`aggregate`: methods over many tasks at once. Only scores can be averaged over tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from countmorl.reports.scores import ScoreTable
from countmorl.reports.statistics import (
    Interval,
    Profile,
    Scores,
    has_interval,
    improvement,
    iqm,
    mean,
    median,
    profile,
)

ENOUGH = 5
"""Seeds from which on intervals are about as wide as they should be."""
FEW = (
    "With fewer than five seeds intervals are too narrow: what is called 95 % held the true mean "
    "in 74 % of trials with two seeds, in 84 % with three (docs/reporting.md)."
)
POINTS = 101
"""Values of tau in a performance profile."""


@dataclass(frozen=True, kw_only=True)
class Overall:
    """One method over the tasks that all methods have."""

    method: str
    iqm: Interval
    mean: Interval
    median: Interval
    profile: Profile
    runs: int


@dataclass(frozen=True, kw_only=True)
class Improvement:
    """The chance that a run of one method beats a run of another."""

    better: str
    worse: str
    chance: Interval
    tasks: int
    """Tasks that both have."""


@dataclass(frozen=True, kw_only=True)
class Aggregates:
    """Everything that is said over tasks, by one protocol."""

    title: str
    """The protocol."""
    tasks: tuple[str, ...]
    """The tasks that all methods have."""
    overall: tuple[Overall, ...]
    improvements: tuple[Improvement, ...]
    notes: tuple[str, ...]


def aggregate(table: ScoreTable) -> Aggregates:
    """Sum up a table of scores over tasks."""
    common = [d for d in table.data if all((m, d) in table.cells for m in table.methods)]
    scores = {method: _scores(table, method, common) for method in table.methods if common}
    taus = _taus(table)
    return Aggregates(
        title=table.title,
        tasks=tuple(common),
        overall=tuple(_overall(method, each, taus) for method, each in scores.items()),
        improvements=tuple(_improvements(table)),
        notes=tuple(_notes(table, common, list(scores.values()))),
    )


def _overall(method: str, scores: Scores, taus: Sequence[float]) -> Overall:
    return Overall(
        method=method,
        iqm=iqm(scores),
        mean=mean(scores),
        median=median(scores),
        profile=profile(scores, taus),
        runs=sum(map(len, scores)),
    )


def _scores(table: ScoreTable, method: str, data: Sequence[str]) -> Scores:
    return [table.cells[method, each].values for each in data]


def _improvements(table: ScoreTable) -> list[Improvement]:
    found: dict[tuple[str, str], Improvement] = {}
    for better, worse in permutations(table.methods, 2):
        both = [d for d in table.data if {(better, d), (worse, d)} <= set(table.cells)]
        if not both:
            continue
        turned = found.get((worse, better))
        chance = (
            _turned(turned.chance)
            if turned
            else improvement(_scores(table, better, both), _scores(table, worse, both))
        )
        found[better, worse] = Improvement(
            better=better, worse=worse, chance=chance, tasks=len(both)
        )
    return list(found.values())


def _turned(chance: Interval) -> Interval:
    """P(Y > X) = 1 - P(X > Y), draw by draw, so its interval is the other one's mirror."""
    if chance.low is None or chance.high is None:
        return Interval(value=1 - chance.value)
    return Interval(value=1 - chance.value, low=1 - chance.high, high=1 - chance.low)


def _taus(table: ScoreTable) -> list[float]:
    """From 0 to just above the best run, so that every profile ends at zero."""
    top = max((value for cell in table.cells.values() for value in cell.values), default=0.0)
    end = max(10.0, 10.0 * math.ceil(top / 10.0))
    return [round(end * each / (POINTS - 1), 10) for each in range(POINTS)]


def _notes(table: ScoreTable, common: Sequence[str], scores: Sequence[Scores]) -> list[str]:
    notes = []
    if not common:
        notes.append(
            "No dataset was run by all methods, so there is no average over tasks; pairs of "
            "methods are compared on the data that both have."
        )
    elif len(common) < len(table.data):
        left = ", ".join(each for each in table.data if each not in common)
        notes.append(
            f"Not every method was run on all data. What is said over tasks is over the "
            f"{len(common)} that all have; left out: {left}."
        )
    if scores and not all(map(has_interval, scores)):
        notes.append(
            "Where a method has a single seed on some task there is nothing to draw again, so its "
            "numbers have no interval."
        )
    if any(has_interval(each) and min(map(len, each)) < ENOUGH for each in scores):
        notes.append(FEW)
    return notes
