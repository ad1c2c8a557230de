"""What the study of judging keeps: a policy with its truth and its judgement, a log with its own.

A record lies in a file of its own, with what it was made with; one that was made otherwise is made
again, so that a study goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countmorl.configs import check_types
from countmorl.envs.tasks import Task
from countmorl.errors import ConfigError, RunError
from countmorl.evaluation.verdict import Judgement
from countmorl.files import write_text
from countmorl.json_files import parse_json
from countmorl.runs.folder import Run
from countmorl.studies.truth import Truth


@dataclass(frozen=True, eq=False, kw_only=True)
class Tried:
    """One policy: judged by the log, then played."""

    name: str
    run: str
    last: bool
    """Whether its run ended with it."""
    clone: bool
    """Whether it only imitates the log."""
    q: float | None
    """What its run's critics say of it, where they are of the same epoch."""
    truth: Truth
    judgement: Judgement

    @classmethod
    def of(
        cls, name: str, run: Run, last: bool, judged: Mapping[str, Any], truth: Mapping[str, Any]
    ) -> Tried:
        """What two records say."""
        found = cls(
            name=name,
            run=run.path.absolute().name,
            last=last,
            clone=run.manifest.algorithm == "bc",
            q=judged["q"],
            truth=_truth_of(truth),
            judgement=Judgement.of_dict(judged["judgement"]),
        )
        check_types(found)
        return found


@dataclass(frozen=True, kw_only=True)
class LogTruth:
    """What a log earned, and what chance earns on its task."""

    unit: str
    value: float
    """In the measure's unit."""
    interval: tuple[float, float]
    total: float
    """Plain return of an episode."""
    chance: Truth

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> LogTruth:
        """Read what `asdict` has written."""
        low, high = values["interval"]
        chance = _truth_of(values["chance"])
        found = cls(**{**values, "interval": (low, high), "chance": chance})
        check_types(found)
        return found


def _truth_of(values: Mapping[str, Any]) -> Truth:
    found = Truth(**values)
    check_types(found)
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Field:
    """All policies of one log."""

    name: str
    development: bool
    """Whether the rules were chosen on it."""
    task: Task
    log: LogTruth
    tried: tuple[Tried, ...]

    def points(self, truth: Truth | None) -> float:
        """A score: the task's own, else from chance (0) to the best policy (100); None: the log."""
        total = self.log.total if truth is None else truth.total
        score = None if total is None else self.task.score(total)
        if score is not None:
            return score
        low = self.log.chance.value
        best = max(self.log.value, *(each.truth.value for each in self.tried))
        value = self.log.value if truth is None else truth.value
        return 100.0 * (value - low) / (best - low) if best > low else 0.0

    def worse(self, tried: Tried) -> bool:
        """Whether a policy earns less than the log."""
        return tried.truth.value < self.log.value


def kept(path: Path, about: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read a record, if it is there and was made with the same."""
    if not path.exists():
        return None
    try:
        found = parse_json(path, lambda v: isinstance(v, dict) and "found" in v, "a record")
    except RunError:  # Of a disk that was full, say: it is made again.
        return None
    return found["found"] if found.get("about") == json.loads(json.dumps(about)) else None


def keep(path: Path, about: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Write a record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps({"about": about, "found": found}, indent=1) + "\n")


@contextmanager
def unread(path: Path) -> Iterator[None]:
    """Say which record it was, where one does not hold what it should."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
        raise RunError(f"{path} is damaged ({error}). Remove it: it is made again.") from error
