"""How a benchmark measures: best of a few repetitions, against a yardstick in the same process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Result:
    """One row of the table."""

    name: str
    seconds: float
    ratio: float
    ratio_to: str
    limit: float | None = None
    """The ratio this project promises to stay under."""

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON-able values."""
        return asdict(self)


def best(work: Callable[[], Any], repeat: int = 5) -> float:
    """Return the shortest of a few durations: the one least disturbed by other processes."""
    durations = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        durations.append(time.perf_counter() - start)
    return min(durations)


def alternate(*works: Callable[[], Any], repeat: int = 5) -> list[float]:
    """Time several things in turns, so that a busy moment hits all of them alike."""
    durations: list[list[float]] = [[] for _ in works]
    for _ in range(repeat):
        for work, times in zip(works, durations, strict=True):
            times.append(best(work, 1))
    return [min(times) for times in durations]


def show(results: Sequence[Result]) -> None:
    """Print the table."""
    width = max(len(result.name) for result in results)
    for result in results:
        limit = f"(limit {result.limit:g})" if result.limit else ""
        ratio = f"{result.ratio:6.2f} x {limit:<12} of {result.ratio_to}"
        print(f"{result.name:<{width}}  {result.seconds:9.4f} s  {ratio}")
