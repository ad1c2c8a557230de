"""From judged and played policies to numbers: does judging rank, choose and warn as it should?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from countmorl.evaluation.base import Estimate
from countmorl.evaluation.choice import choose_among, handed_out
from countmorl.studies.judging_records import Field, Tried

ESTIMATORS = ("fitted Q", "model", "weighted", "doubly robust", "own critics")
VERDICT, HANDED, LAST, HIGHEST, RANDOM, LOG = (
    "verdict",
    "handed out",
    "last policy",
    "highest Q",
    "random choice",
    "the log",
)


NO_CALLS: dict[str, Any] = {"covered": 0, "intervals": 0, "better": 0, "wrong": 0}
"""Of a way that says nothing of single policies."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """How one way of judging did on the policies of one log."""

    way: str
    data: str
    policies: int
    judged: int
    """Policies that it gave a number for."""
    rank: float | None
    """Spearman's rank correlation with the truth; None of fewer than three."""
    regret: float
    """Points that its first choice has less than the best there is, the log's behaviour included;
    whoever chooses nothing keeps the log's."""
    worse: float
    """How likely its first choice is worse than the log."""
    short: float
    """Points that its first choice has less than the log; of several logs the most."""
    covered: int
    """Times that the truth lay in its interval."""
    intervals: int
    better: int
    """Policies that it called better than the log."""
    wrong: int
    """Policies among them that are worse."""


def marks(field: Field) -> list[Mark]:
    """Every way of judging, on one log."""
    found = [_estimator(field, name) for name in ESTIMATORS]
    return [each for each in found if each.judged] + [*_verdict(field), *_habits(field)]


def summed(found: Sequence[Mark], data: str) -> list[Mark]:
    """Over several logs: means of what is a mean, sums of what is counted."""
    groups: dict[str, list[Mark]] = {}
    for mark in found:
        groups.setdefault(mark.way, []).append(mark)
    total = lambda some, name: sum(getattr(mark, name) for mark in some)  # noqa: E731
    return [
        Mark(
            way=way,
            data=data,
            rank=_mean([m.rank for m in some if m.rank is not None]),
            regret=fmean(m.regret for m in some),
            worse=fmean(m.worse for m in some),
            short=max(m.short for m in some),
            policies=total(some, "policies"),
            judged=total(some, "judged"),
            covered=total(some, "covered"),
            intervals=total(some, "intervals"),
            better=total(some, "better"),
            wrong=total(some, "wrong"),
        )
        for way, some in groups.items()
    ]


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _estimator(field: Field, name: str) -> Mark:
    told = {
        each: opinion
        for each in field.tried
        if isinstance(opinion := each.judgement.opinions.get(name), Estimate)
    }
    first = max(told, key=lambda each: told[each].value, default=None)
    reach = {each: said.interval for each, said in told.items() if said.interval}
    better = [each for each, said in told.items() if _gained(said, each)]
    return Mark(
        way=name,
        **_chosen(field, first),
        **_ranked(field, {each: said.value for each, said in told.items()}),
        covered=sum(_within(each, *ends) for each, ends in reach.items()),
        intervals=len(reach),
        better=len(better),
        wrong=sum(map(field.worse, better)),
    )


def _within(tried: Tried, low: float, high: float, gained: Field | None = None) -> bool:
    """Whether the truth lies in an interval, give or take what is not known of the truth itself.

    Of a gain, the log's own value is not known exactly, either.
    """
    truth, error = tried.truth.value, 1.96 * tried.truth.error
    if gained is not None:
        below, above = gained.log.interval
        truth, error = truth - gained.log.value, math.hypot(error, (above - below) / 2)
    return low - error <= truth <= high + error


def _gained(said: Estimate, tried: Tried) -> bool:
    """Whether an estimate alone, with its interval, says better than the log."""
    if "gain_low" in said.facts:
        return said.facts["gain_low"] > 0
    log = tried.judgement.behaviour
    assert isinstance(log, Estimate)
    return said.interval is not None and said.interval[0] > (log.interval or (log.value,))[-1]


def _verdict(field: Field) -> list[Mark]:
    """What the verdict takes, and what is handed out: that, or else a clone."""
    choice = choose_among([each.judgement for each in field.tried])
    of = {id(each.judgement): each for each in field.tried}
    sure = {of[id(r.judgement)]: r.sure for r in choice.ranked if r.sure is not None}
    gains = {each: each.judgement.gain for each in field.tried if each.judgement.gain}
    better = [each for each in field.tried if each.judgement.verdict == "better"]
    taken = None if choice.taken is None else of[id(choice.taken)]
    given = handed_out(choice, {each.judgement.name for each in field.tried if each.clone})
    nothing = _ranked(field, {}) | NO_CALLS
    verdict = Mark(
        way=VERDICT,
        **_chosen(field, taken),
        **_ranked(field, sure),
        covered=sum(_within(each, *ends, field) for each, ends in gains.items()),
        intervals=len(gains),
        better=len(better),
        wrong=sum(map(field.worse, better)),
    )
    handed = _chosen(field, None if given is None else of[id(given)])
    return [verdict, Mark(way=HANDED, **handed, **nothing)]


def _habits(field: Field) -> list[Mark]:
    """What people do today, and doing nothing."""
    ends = [each for each in field.tried if each.last]
    valued = {each: each.q for each in field.tried if each.q is not None}
    highest = max(valued, key=lambda each: valued[each], default=None)
    nothing = _ranked(field, {}) | NO_CALLS
    return [
        Mark(way=LAST, **_drawn(field, ends), **nothing),
        Mark(way=HIGHEST, **_chosen(field, highest), **_ranked(field, valued), **NO_CALLS),
        Mark(way=RANDOM, **_drawn(field, field.tried), **nothing),
        Mark(way=LOG, **_chosen(field, None), **nothing),
    ]


def _chosen(field: Field, first: Tried | None) -> dict[str, Any]:
    got = field.points(first.truth if first else None)
    return {
        "regret": best_points(field) - got,
        "short": max(0.0, field.points(None) - got),
        "worse": float(first is not None and field.worse(first)),
    }


def _drawn(field: Field, some: Sequence[Tried]) -> dict[str, Any]:
    """Whatever policy of some comes, on average."""
    if not some:
        return _chosen(field, None)
    each = [_chosen(field, one) for one in some]
    return {name: fmean(one[name] for one in each) for name in ("regret", "worse", "short")}


def best_points(field: Field) -> float:
    """Points of the best there is."""
    return max(field.points(None), *(field.points(each.truth) for each in field.tried))


def _ranked(field: Field, said: Mapping[Tried, float]) -> dict[str, Any]:
    rank = None
    values, truths = list(said.values()), [each.truth.value for each in said]
    if len(said) > 2 and np.ptp(values) > 0 and np.ptp(truths) > 0:
        found = float(spearmanr(values, truths).statistic)  # type: ignore[union-attr]
        rank = found if math.isfinite(found) else None
    return {"data": field.name, "policies": len(field.tried), "judged": len(said), "rank": rank}


COLUMNS: dict[str, Callable[[Mark], str]] = {
    "way": lambda m: m.way,
    "judged": lambda m: f"{m.judged} of {m.policies}" if m.judged else "-",
    "rank": lambda m: "-" if m.rank is None else f"{m.rank:.2f}",
    "regret": lambda m: f"{m.regret:.1f}",
    "choice worse": lambda m: f"{m.worse:.0%}",
    "below the log": lambda m: f"{m.short:.1f}",
    "in interval": lambda m: f"{m.covered} of {m.intervals}" if m.intervals else "-",
    "called better": lambda m: str(m.better) if m.judged else "-",
    "of these worse": lambda m: str(m.wrong) if m.better else "-",
}
"""What tables show of a mark."""
