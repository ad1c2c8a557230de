"""`PROTOCOLS`: how a run's evaluations become one number. Each has a name, and stands by itself.

Another one, such as an epoch chosen offline, is one more row: a function from a run's facts to a
number, or None for a run that has none. A protocol that no run has a number for is not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from countmorl.errors import ConfigError, did_you_mean
from countmorl.reports.facts import RunFacts

WORDS = ("", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """One way to sum up a run."""

    title: str
    """Its name; {last} is the number of last evaluations."""
    about: str
    """What it is, in a sentence or two, with the same {last}."""
    value: Callable[[RunFacts], float | None]
    peeks: bool = False
    """Whether it looks at the simulator to choose, which no one can who has only a log."""

    def named(self, last: int) -> tuple[str, str]:
        """Title and sentence, with the number of last evaluations."""
        words = _evaluations(last)
        return self.title.format(last=words), self.about.format(last=words)


def _last(facts: RunFacts) -> float | None:
    return facts.summary.mean


def _best(facts: RunFacts) -> float | None:
    return max(facts.summary.values, default=None)


PROTOCOLS: dict[str, Protocol] = {
    "last": Protocol(
        title="last {last}",
        about="The mean of a run's last {last}, then over seeds. Nothing is chosen.",
        value=_last,
    ),
    "best": Protocol(
        title="best evaluation (peeking)",
        about="The best evaluation of each run, then the mean over seeds. It looks at the "
        "simulator to choose, so it is higher than what a policy chosen without one would get.",
        value=_best,
        peeks=True,
    ),
}


def find_protocol(name: str) -> Protocol:
    """Return a protocol by its name; an unknown one is a `ConfigError`."""
    if name not in PROTOCOLS:
        raise ConfigError(
            f"There is no protocol '{name}'.{did_you_mean(name, PROTOCOLS)} "
            f"Known: {', '.join(PROTOCOLS)}."
        )
    return PROTOCOLS[name]


def _evaluations(last: int) -> str:
    if last == 1:
        return "evaluation"
    return f"{WORDS[last] if last < len(WORDS) else last} evaluations"
