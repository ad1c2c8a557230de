"""The search for a code's length: try lengths until few enough rows share a code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from countmorl.counting.fit import CodeFacts


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What a search is content with."""

    first: int
    """The length that is tried first."""
    rows: float
    """Rows per code."""
    close: float
    """Within this factor of them the search ends: each length takes a minute to fit."""
    full: float | None
    """Share of all codes in use at the most: where it is larger, a pair that was never seen shares
    a code with some row by chance, and the code is made longer though rows per code get fewer."""


PLAIN = Aim(first=24, rows=7.0, close=1.75, full=1 / 16)
"""The paper's penalty worked best at 5 to 10 rows per code."""
VERIFIED = Aim(first=16, rows=14.0, close=4.5, full=None)
"""Short codes tell more of the model's error than long ones do (lab/verified.md), from 3 rows per
code on; pairs that share a code by chance are found out by its decoder."""

MOST_TRIES = 6
HELPS = 0.8
"""A length that leaves more than this share of a shorter one's crowding does not help: what the
longer code could tell, it does not use, and still longer ones would not either."""

Fitted = TypeVar("Fitted")


def search_length(
    fit: Callable[[int], tuple[Fitted, CodeFacts]], say: Callable[[str], None], aim: Aim = PLAIN
) -> tuple[Fitted, CodeFacts]:
    """Fit codes of several lengths, keep the one whose crowding is closest to what is wanted."""
    tried: dict[int, tuple[Fitted, CodeFacts]] = {}
    rows: dict[int, float] = {}
    bits = aim.first
    while bits not in tried and len(tried) < MOST_TRIES:
        tried[bits] = fit(bits)
        rows[bits] = crowding(tried[bits][1], bits, aim)
        if aim.rows / aim.close <= rows[bits] <= aim.rows * aim.close:
            break
        if hopeless(rows, aim.rows):
            say(
                f"warning: codes of {bits} bits are hardly less crowded than shorter ones, so the "
                "search ends. Columns that stay the same within an episode may use up the codes."
            )
            break
        bits = next_bits(rows, aim.rows)
    best = min(rows, key=lambda length: abs(np.log(rows[length] / aim.rows)))
    curve = ", ".join(f"{length}: {rows[length]:.1f}" for length in sorted(rows))
    full = "" if aim.full is None else ", or how full the codes are,"
    say(f"rows per code{full} by code length: {curve}")
    return tried[best]


def hopeless(rows: dict[int, float], wanted: float) -> bool:
    """Whether longer codes were tried and the longest is as crowded as the one before it."""
    lengths = sorted(rows)
    if len(lengths) < 2 or rows[lengths[-1]] <= wanted:
        return False
    before, longest = (rows[length] for length in lengths[-2:])
    return longest > HELPS * before


def crowding(facts: CodeFacts, bits: int, aim: Aim = PLAIN) -> float:
    """Rows per code; or, where it is worse, how full the codes are, as rows per code too."""
    rows = float(np.median(facts.samples_per_code))
    if aim.full is None:
        return rows
    full = float(np.median(facts.codes)) / 2.0**bits
    return max(rows, aim.rows * full / aim.full)


def next_bits(rows: dict[int, float], aim: float) -> int:
    """Where to look next: log rows per code falls about linearly with the code's length."""
    lengths = sorted(rows)
    above = [length for length in lengths if rows[length] > aim]
    below = [length for length in lengths if rows[length] <= aim]
    if not below:
        return min(128, round(lengths[-1] * 1.5))
    if not above:
        return max(4, round(lengths[0] / 1.5))
    low, high = above[-1], below[0]
    drop = np.log(rows[low] / rows[high])
    share = np.log(rows[low] / aim) / drop if drop > 0 else 0.5
    return round(float(np.clip(low + share * (high - low), low + 1, max(low + 1, high - 1))))
