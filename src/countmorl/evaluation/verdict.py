"""From what evaluators say to one sentence: is this policy better than the log?

The rules are made so that a policy that is worse is hardly ever called better. Whoever is better
and not called so loses what a better policy would earn; the other way round somebody deploys it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from countmorl.configs import check_types
from countmorl.errors import ConfigError
from countmorl.evaluation.base import DOUBTED, GAINS, Estimate, Opinion, opinion_of

Call = Literal["better", "not shown to be better", "worse", "cannot be judged"]
DECISIVE = ("fitted Q", "model", "doubly robust")
"""Estimators that have a say; the others are shown beside them."""
WANTED = 2
"""Estimators that must agree."""
LEADS = "model"
"""The estimator whose interval is believed where all others say better, too, if less surely: of
what is measured against the simulator its levels are the nearest to the truth (docs/judging.md)."""
LESS = 0.34
"""How wide the others' intervals are then, as a share of those of 95 %: those of five critics leave
a fifth of the chances below."""
UNSEEN = 0.15
"""Share of its way beyond which a policy goes where nobody can follow."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """How much of a policy's way the log does not show."""

    unseen: float
    """Share of its steps, at logged states or in the model, that no logged pair is near to."""
    thin: float
    """Share that has few such pairs."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Everything that was found out about one policy."""

    name: str
    verdict: Call
    sentence: str
    behaviour: Opinion
    opinions: Mapping[str, Opinion]
    way: Way
    gain: tuple[float, float] | None = None
    """How much more than the log it earns: what the estimators agree on, in the measure's unit."""
    notes: tuple[str, ...] = field(default=())
    """What weakens the verdict, and where estimators disagree."""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "gain": None if self.gain is None else list(self.gain),
            "unseen": self.way.unseen,
            "thin": self.way.thin,
            "behaviour": self.behaviour.as_dict(),
            "opinions": {name: each.as_dict() for name, each in self.opinions.items()},
            "notes": list(self.notes),
        }

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> Judgement:
        """Read what `as_dict` has written; a `ConfigError` says what no judgement is."""
        gain = values["gain"]
        found = cls(
            name=values["name"],
            verdict=values["verdict"],
            sentence=values["sentence"],
            behaviour=opinion_of(values["behaviour"]),
            opinions={name: opinion_of(each) for name, each in values["opinions"].items()},
            way=Way(unseen=values["unseen"], thin=values["thin"]),
            gain=None if gain is None else tuple(gain),
            notes=tuple(values["notes"]),
        )
        check_types(found)
        check_types(found.way)
        if found.gain is not None and len(found.gain) != 2:
            raise ConfigError(f"`gain` must be two numbers, got {list(found.gain)}.")
        return found


def decide(
    name: str,
    behaviour: Opinion,
    opinions: Mapping[str, Opinion],
    way: Way,
    *,
    alike: bool = False,
    notes: tuple[str, ...] = (),
) -> Judgement:
    """Weigh opinions; `alike` says that every step of every policy is paid the same."""
    heard, gain = heard_of(opinions), None
    if heard:
        gain = (surely(heard), max(_gain(each)[1] for each in heard.values()))
    verdict, why = _verdict(behaviour, heard, way, gain, alike)
    unit = behaviour.unit if isinstance(behaviour, Estimate) else ""
    return Judgement(
        name=name,
        verdict=verdict,
        sentence=_sentence(verdict, why, gain, behaviour, heard, unit),
        behaviour=behaviour,
        opinions=opinions,
        way=way,
        gain=gain,
        notes=(*notes, *disagreements(heard)),
    )


def heard_of(opinions: Mapping[str, Opinion]) -> dict[str, Estimate]:
    """The estimates that have a say."""
    return {
        key: each
        for key, each in opinions.items()
        if key in DECISIVE and isinstance(each, Estimate) and set(GAINS) <= set(each.facts)
    }


def modelled(judgement: Judgement) -> tuple[float, float] | None:
    """What a policy is worth in the model, at the least and by its median, trusted or not.

    What lies behind cuts counts as the log's worst there, so of two policies of which nobody can
    say whether they are better than the log, this still tells which is the safer one.
    """
    said = judgement.opinions.get(LEADS)
    if isinstance(said, Estimate):
        return (said.interval or (said.value, said.value))[0], said.value
    found = [said.facts.get(DOUBTED + name) for name in ("low", "value")] if said else []
    low, value = found or (None, None)
    return None if low is None or value is None else (low, value)


def surely(heard: Mapping[str, Estimate], wider: float = 1.0) -> float:
    """How much better than the log it is at the least, by intervals that are so much wider."""
    agree = min(_lower(each, LESS) for each in heard.values()) > 0
    if LEADS in heard and len(heard) >= WANTED and agree:
        return _lower(heard[LEADS], wider)
    return min(_lower(each, wider) for each in heard.values())


def _lower(estimate: Estimate, wider: float) -> float:
    gain = estimate.facts["gain"]
    return gain - wider * (gain - estimate.facts["gain_low"])


def disagreements(heard: Mapping[str, Estimate]) -> list[str]:
    """Pairs of estimators of which one says better and the other worse."""
    above = [name for name, each in heard.items() if _gain(each)[0] > 0]
    below = [name for name, each in heard.items() if _gain(each)[1] < 0]
    return [f"{up} says better than the log, {down} says worse" for up in above for down in below]


def _gain(estimate: Estimate) -> tuple[float, float]:
    return estimate.facts["gain_low"], estimate.facts["gain_high"]


def _verdict(
    behaviour: Opinion,
    heard: Mapping[str, Estimate],
    way: Way,
    gain: tuple[float, float] | None,
    alike: bool,
) -> tuple[Call, str]:
    if alike:
        return "cannot be judged", "every logged reward is the same and no episode ends by itself"
    if not isinstance(behaviour, Estimate):
        return "cannot be judged", behaviour.why.rstrip(".")
    if way.unseen > UNSEEN:
        return "cannot be judged", f"{way.unseen:.0%} of its steps are pairs that were never logged"
    if gain is None or not all(map(math.isfinite, gain)):
        return "cannot be judged", "no estimator that has a say could be trusted"
    if gain[1] < 0:
        return "worse", ""
    if len(heard) < WANTED:
        (alone,) = heard
        return "not shown to be better", f"{alone} alone could judge it, and two have to agree"
    if gain[0] > 0:
        return "better", ""
    return "not shown to be better", ""


def _sentence(
    verdict: Call,
    why: str,
    gain: tuple[float, float] | None,
    behaviour: Opinion,
    heard: Mapping[str, Estimate],
    unit: str,
) -> str:
    if verdict == "cannot be judged" or gain is None or not isinstance(behaviour, Estimate):
        return f"cannot be judged: {why}."
    by = " and ".join(heard)
    if verdict == "better":
        least = f"at least {gain[0]:.4g}{_share(gain[0], behaviour)}, at most {gain[1]:.4g}"
        certain = f"{LEADS} with 95 % certainty, and " if LEADS in heard else ""
        return f"better than the log, by {least} ({unit}; {certain}{by} agree)."
    if verdict == "worse":
        least = f"at least {-gain[1]:.4g}{_share(-gain[1], behaviour)}"
        return f"worse than the log, by {least} ({unit}; by {by}, with 95 % certainty)."
    reach = f"its gain may be anything from {gain[0]:.4g} to {gain[1]:.4g} ({unit})"
    return f"not shown to be better than the log: {why + '; ' if why else ''}{reach}."


def _share(amount: float, behaviour: Estimate) -> str:
    if not behaviour.value:
        return ""
    return f" ({amount / abs(behaviour.value):.0%} of what it earned)"
