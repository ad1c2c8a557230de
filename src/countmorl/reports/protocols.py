"""`PROTOCOLS`: how a run's evaluations become one number. Each has a name, and stands by itself.

Another one is one more row: a function from a run's facts to a number, or None for a run that has
none. A protocol that no run has a number for is not shown.
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
    across: bool = False
    """Whether it takes one of all methods, so that its table has a single column."""

    def named(self, last: int) -> tuple[str, str]:
        """Title and sentence, with the number of last evaluations."""
        words = _evaluations(last)
        return self.title.format(last=words), self.about.format(last=words)


def _last(facts: RunFacts) -> float | None:
    return facts.summary.mean


def _best(facts: RunFacts) -> float | None:
    return max(facts.summary.values, default=None)


def _offline(facts: RunFacts) -> float | None:
    """What the policy had that was taken, or the log, where none was."""
    choice, summary = facts.choice, facts.summary
    if choice is None:
        return None
    if choice.kept_log:
        return {"score": choice.log_score, "return": choice.log_return}.get(str(facts.measure))
    epoch = summary.epochs if choice.epoch is None else choice.epoch
    judged = dict(zip(summary.judged_at, summary.values, strict=True))
    return judged.get(epoch) if choice.taken else None


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
    "offline": Protocol(
        title="chosen offline",
        about="What countmorl choose took, by the log alone: one policy of all methods for each "
        "log and seed, and what it then had in the simulator. ‡: nothing was shown to be better "
        "than the log, for one seed at least; what the log itself earned stands there.",
        value=_offline,
        across=True,
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
