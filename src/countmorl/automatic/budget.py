"""How long everything may take, and how that is shared out."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from countmorl.errors import ConfigError

UNITS = {"s": 1, "m": 60, "h": 3600}
LEAST = 60
"""Seconds below which nothing comes of it: Python, compiling and a timing take about as much."""
MOST = 30 * 24 * 3600
TRAINING, JUDGING = 0.6, 0.96
"""Shares of the budget at which training and judging have to have ended."""


@dataclass(frozen=True, kw_only=True)
class Clock:
    """The budget of one command, over all the times that it was begun."""

    budget: float
    """Seconds in all."""
    before: float
    """Seconds that were spent before this process."""
    began: float
    """When this process began, by `time.monotonic`."""

    @property
    def spent(self) -> float:
        """Seconds so far."""
        return self.before + time.monotonic() - self.began

    def left(self, share: float = 1.0) -> float:
        """Seconds until a share of the budget is spent; below 0 where it is."""
        return share * self.budget - self.spent


def seconds_of(text: str) -> float:
    """Seconds of a budget such as 90s, 30m, 2h or 1h30m; too small ones are refused."""
    found = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text.strip().lower())
    if found is None or not any(found.groups()):
        raise ConfigError(
            f"`budget` must be a time such as 90s, 30m, 2h or 1h30m, got '{text[:40]}'."
        )
    given = (int(part or 0) for part in found.groups())
    total = sum(number * UNITS[unit] for number, unit in zip(given, "hms", strict=True))
    if total < LEAST:
        raise ConfigError(
            f"A budget of {text} is too small to do anything: starting, compiling and timing take "
            "about a minute. Give --budget 5m or more."
        )
    if total > MOST:
        raise ConfigError(f"`budget` must be at most 30 days (720h), got {text}.")
    return float(total)
