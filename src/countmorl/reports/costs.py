"""What runs cost, in time and memory, and what those that count have counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from countmorl.reports.facts import RunFacts
from countmorl.reports.groups import Study

SHARED_LABEL = "models and codes, shared"
POLICY = ("policy", "policy-0", "plan")
"""Stages whose seconds are the policy's; all others are of models and codes."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What the runs of one method took."""

    method: str
    runs: int
    seconds: float
    """Of all its runs, compiling included."""
    policy_seconds: float
    """The part of it that trained policies."""
    compile_seconds: float
    updates_per_second: float | None
    """Of the policy, compiling left out: the middle of the runs."""
    peak_memory: float | None
    """The most bytes that one of its runs held."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What the runs of one method on one dataset say of their counts, in the mean over seeds."""

    method: str
    data: str
    runs: int
    rows_per_code: float | None
    unseen: float | None
    typical_count: float | None
    rank_correlation: float
    verdict: str


def costs(study: Study, shared: Sequence[RunFacts]) -> list[Cost]:
    """Time and memory of every method, and of what several of them build on."""
    rows = [_cost(method, study.of_method(method)) for method in study.methods]
    return rows + ([_cost(SHARED_LABEL, shared)] if shared else [])


def _cost(label: str, runs: Sequence[RunFacts]) -> Cost:
    speeds = _there(run.summary.updates_per_second for run in runs)
    return Cost(
        method=label,
        runs=len(runs),
        seconds=sum(sum(run.seconds.values()) for run in runs),
        policy_seconds=sum(run.seconds.get(stage, 0.0) for run in runs for stage in POLICY),
        compile_seconds=sum(run.summary.compile_seconds for run in runs),
        updates_per_second=median(speeds) if speeds else None,
        peak_memory=max(_there(run.peak_memory for run in runs), default=None),
    )


def counted(study: Study) -> list[Counted]:
    """What counting came to, for every method and dataset where something was counted."""
    rows = []
    for (method, data), runs in study.cells.items():
        told = [run for run in runs if run.calibration is not None]
        if told:
            rows.append(_counted(method, data, told))
    return rows


def _counted(method: str, data: str, runs: Sequence[RunFacts]) -> Counted:
    found = [run.calibration for run in runs if run.calibration is not None]
    verdicts = {each.verdict for each in found}
    sound = sum(each.predicts_error for each in found)
    some = f"Counts predict the model's error in {sound} of {len(found)} runs."
    return Counted(
        method=method,
        data=data,
        runs=len(found),
        rows_per_code=_mean(each.rows_per_code for each in found),
        unseen=_mean(run.unseen for run in runs),
        typical_count=_mean(each.median_count for each in found),
        rank_correlation=fmean(each.rank_correlation for each in found),
        verdict=verdicts.pop() if len(verdicts) == 1 else some,
    )


def _there(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Iterable[float | None]) -> float | None:
    found = _there(values)
    return fmean(found) if found else None
