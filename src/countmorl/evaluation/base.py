"""The seam of judging: an `Evaluator` looks at a policy and gives an `Estimate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, Protocol, runtime_checkable

from countmorl.configs import check_types
from countmorl.errors import ConfigError
from countmorl.runtime.base import PolicyLike, Sized

GAINS = ("gain", "gain_low", "gain_high")
"""Facts of an estimate: how much more than the log a policy earns, and the interval of that."""
DOUBTED = "not_trusted_"
"""What the numbers of an estimate that was refused are called among the facts."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a policy is worth, how sure that is, and how it was found out."""

    value: float
    interval: tuple[float, float] | None = None
    """Where the true value lies with 95 % confidence; None where that cannot be said."""
    unit: str
    """What the value counts: the return of an episode, a discounted return, ..."""
    made_by: str
    """How the estimate was made, in a few words."""
    facts: Mapping[str, float] = field(default_factory=dict)
    """Numbers beside it by their names in the metrics, and whatever supports or weakens it.

    Where they hold no `return`, a run records the value itself beside them."""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return asdict(self) | {"facts": dict(self.facts)}

    def refused(self, why: str) -> Refusal:
        """Take the number back. What it was stays among the facts, as one not to be trusted."""
        low, high = self.interval or (self.value, self.value)
        doubted = {"value": self.value, "low": low, "high": high}
        doubted |= {name: self.facts[name] for name in GAINS if name in self.facts}
        facts = {name: value for name, value in self.facts.items() if name not in GAINS}
        facts |= {DOUBTED + name: value for name, value in doubted.items() if isfinite(value)}
        return Refusal(made_by=self.made_by, why=why, facts=facts)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why an evaluator gives no number: one that cannot be trusted is worse than none."""

    made_by: str
    why: str
    """A sentence."""
    facts: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return {"refused": self.why, "made_by": self.made_by, "facts": dict(self.facts)}


Opinion = Estimate | Refusal
"""What an evaluator says."""


def opinion_of(values: Mapping[str, Any]) -> Opinion:
    """Read what `as_dict` of either has written; a `ConfigError` says what no opinion is."""
    values = dict(values)
    if "refused" in values:
        return _sound(Refusal(why=values.pop("refused"), **values))
    reach = values.pop("interval")
    found = Estimate(interval=None if reach is None else tuple(reach), **values)
    if found.interval is not None and len(found.interval) != 2:
        raise ConfigError(f"`interval` must be two numbers, got {list(found.interval)}.")
    return _sound(found)


def _sound(opinion: Opinion) -> Opinion:
    check_types(opinion)
    if not all(type(each) in (int, float, bool) for each in opinion.facts.values()):
        raise ConfigError("`facts` must be numbers.")
    return opinion


@runtime_checkable
class Evaluator(Protocol):
    """Judges policies for one task or one log."""

    def check(self, policy: Sized, name: str) -> None:
        """Raise where such policies cannot be judged, before hours are spent on one."""
        ...

    def __call__(self, policy: PolicyLike, *, seed: int) -> Estimate:
        """Judge a policy; `seed` decides everything random."""
        ...
