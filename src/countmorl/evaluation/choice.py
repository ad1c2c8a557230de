"""`choose_among`: the policy that is shown to be best, or none: keep what you have."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from scipy import stats

from countmorl.evaluation.verdict import Judgement, heard_of, modelled, surely


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A policy and the gain that is left after it was picked from among many."""

    judgement: Judgement
    sure: float | None
    """The lower end of what the estimators agree on, wider for each policy that was looked at;
    None where nobody could judge it."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """All policies, the best first, and the one to take, if any."""

    ranked: tuple[Ranked, ...]

    @property
    def taken(self) -> Judgement | None:
        """The best policy that is still shown to be better than the log."""
        first = self.ranked[0]
        able = first.judgement.verdict == "better" and first.sure is not None and first.sure > 0
        return first.judgement if able else None

    @property
    def sentence(self) -> str:
        """What to do."""
        count = len(self.ranked)
        of = f"none of {count} policies" if count > 1 else "the policy"
        if self.taken is None:
            not_ = "" if count > 1 else "not "
            return f"keep what you have: {of} is {not_}shown to be better than the log."
        (sure,) = (each.sure for each in self.ranked if each.judgement is self.taken)
        return f"take {self.taken.name}: better than the log by at least {sure:.4g}."

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return {
            "taken": self.taken.name if self.taken else None,
            "sentence": self.sentence,
            "ranked": [
                {"name": each.judgement.name, "verdict": each.judgement.verdict, "sure": each.sure}
                for each in self.ranked
            ],
        }


def choose_among(judgements: Sequence[Judgement]) -> Choice:
    """Rank policies by the lower end of what the evaluators agree on.

    Who looks at many finds one that was lucky: intervals are widened so that all of them hold at
    once with 95 % certainty (Bonferroni).
    """
    wider = float(stats.norm.ppf(1 - 0.025 / len(judgements)) / stats.norm.ppf(0.975))
    ranked = [Ranked(judgement=each, sure=_sure(each, wider)) for each in judgements]
    order = {"better": 3, "not shown to be better": 2, "worse": 1, "cannot be judged": 0}

    def key(each: Ranked) -> tuple[int, float]:
        sure = float("-inf") if each.sure is None else each.sure
        return order[each.judgement.verdict], sure

    return Choice(ranked=tuple(sorted(ranked, key=key, reverse=True)))


def handed_out(choice: Choice, clones: Collection[str]) -> Judgement | None:
    """What was taken, or the clone (they are named) that is worth more in the model.

    Where a log mixes behaviours a clone of all of them is often worse than each. None where no
    clone was judged.
    """
    if choice.taken is not None:
        return choice.taken
    judged = [each.judgement for each in choice.ranked if each.judgement.name in clones]
    return max(judged, key=_stands_in, default=None)


def _stands_in(judgement: Judgement) -> tuple[bool, float]:
    """How well a clone can stand in for its log."""
    worth = modelled(judgement)
    return judgement.verdict != "worse", float("-inf") if worth is None else worth[0]


def _sure(judgement: Judgement, wider: float) -> float | None:
    heard = heard_of(judgement.opinions)
    return surely(heard, wider) if heard else None
