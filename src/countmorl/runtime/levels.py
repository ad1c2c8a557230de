"""Is a pair covered by the log, thin, or unseen? By its counts alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

EstimateKind = Literal["LC", "AVG", "UC"]
Join = Literal["counts", "penalties"]
Level = Literal["covered", "thin", "unseen"]
LEVELS: tuple[Level, ...] = ("unseen", "thin", "covered")
"""Every level, by its number."""
LEVEL_NAMES = np.array(LEVELS)
SIGNS: dict[str, float] = {"LC": -1.0, "AVG": 0.0, "UC": 1.0}
THIN_SHARE = 0.1
"""Share of the held-out pairs, of those that were seen at all, that are called thin."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Counted:
    """How often some pairs were logged."""

    members: np.ndarray
    """Every member's count, whole numbers [members, pairs]."""
    count: np.ndarray
    """The members' counts as one, by the run's estimate, [pairs]."""
    level: np.ndarray
    """covered, thin or unseen, [pairs]."""


def mostly_unseen(counts: Any) -> Any:
    """Whether more than half of the members have never seen a pair; counts [members, ...]."""
    return 2 * (counts == 0).sum(axis=0) > len(counts)


def joined(members: np.ndarray, kind: str, alpha: float) -> np.ndarray:
    """One count of the members': their mean, or alpha deviations below (LC) or above (UC) it.

    n members that count c_i deviate by sqrt((n sum c_i^2 - (sum c_i)^2) / (n (n - 1))): whole
    numbers up to the root, so that no order of adding up matters.
    """
    members = members.astype(np.int64)
    number, total = len(members), members.sum(axis=0)
    mean = total / number
    if SIGNS[kind] == 0:
        return mean
    spread = number * (members * members).sum(axis=0) - total * total
    return mean + SIGNS[kind] * alpha * np.sqrt(spread / (number * max(1, number - 1)))


def level_of(members: np.ndarray, count: np.ndarray, thin: float) -> np.ndarray:
    """unseen where most members never saw the pair; thin where the count is below `thin`."""
    number = np.where(mostly_unseen(members), 0, np.where(count < thin, 1, 2))
    return LEVEL_NAMES[number]


def thin_below(members: np.ndarray, count: np.ndarray) -> float:
    """The count below which a pair is thin, learned from held-out pairs; at least 1.

    A tenth of the held-out pairs that most members have seen count less: what is rare among
    ordinary pairs is thin. Where none was seen it is 1.
    """
    seen = count[~np.asarray(mostly_unseen(members))]
    return max(1.0, float(np.quantile(seen, THIN_SHARE))) if len(seen) else 1.0


@runtime_checkable
class CountsPairs(Protocol):
    """Whatever counts pairs: a run's codes, or distances to logged rows."""

    def counts(self, obs: Any, action: Any) -> Counted:
        """Count pairs [n, obs] and [n, action]; actions as the log has them."""
        ...
