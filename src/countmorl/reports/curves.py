"""Learning curves: the mean over seeds at every evaluation, with its spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from countmorl.reports.facts import RunFacts
from countmorl.reports.groups import Study
from countmorl.reports.scores import MEASURES
from countmorl.runs.records import Measure


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One method on one dataset."""

    method: str
    epochs: tuple[int, ...]
    mean: tuple[float, ...]
    """Over the seeds that were judged at that epoch."""
    spread: tuple[float, ...] | None
    """Standard deviation over seeds, zero where one seed is left; None of one seed throughout."""
    seeds: tuple[int, ...]
    """How many seeds there are at every epoch."""
    unfinished: bool


@dataclass(frozen=True, kw_only=True)
class Panel:
    """All methods on one dataset, judged by one measure."""

    data: str
    measure: Measure
    curves: tuple[Curve, ...]


def panels(study: Study) -> list[Panel]:
    """One panel per dataset and measure, in the order of the tables."""
    made = [
        Panel(data=data.label, measure=measure, curves=_curves(study, data.label, measure))
        for data in study.data
        for measure in MEASURES
    ]
    return [panel for panel in made if panel.curves]


def _curves(study: Study, data: str, measure: Measure) -> tuple[Curve, ...]:
    found = []
    for method in study.methods:
        runs = [run for run in study.cells.get((method, data), ()) if run.measure == measure]
        found += [_curve(method, runs)] if runs else []
    return tuple(found)


def _curve(method: str, runs: Sequence[RunFacts]) -> Curve:
    at: dict[int, list[float]] = {}
    for run in runs:
        for epoch, value in zip(run.summary.judged_at, run.summary.values, strict=True):
            at.setdefault(epoch, []).append(value)
    points = sorted(at.items())
    spread = tuple(stdev(values) if len(values) > 1 else 0.0 for _, values in points)
    return Curve(
        method=method,
        epochs=tuple(epoch for epoch, _ in points),
        mean=tuple(fmean(values) for _, values in points),
        spread=spread if len(runs) > 1 else None,
        seeds=tuple(len(values) for _, values in points),
        unfinished=any(not run.summary.finished for run in runs),
    )
