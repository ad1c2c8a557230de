"""Codes whose bits stand in the order of what they tell: one fit gives a code of every length.

While they are fitted only the first k bits of each row's code reach its decoder, k being drawn
anew (nested dropout; Rippel et al., ICML 2014). So the first bits tell as much as so many can, and
the code is cut where as many rows share one as is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, UInt32

LONGEST = 32
"""Bits of an ordered fit. Fourteen rows per code of ten million need twenty that are used well."""
SHORTEST = 4
NOISE = 0.5
"""Deviation of the noise before the sigmoid, at the least. Without it the first bits tell by
shades, which rounding loses, what later ones are there for: some hundred rows share a code then,
however long it is."""
IDLE = 1.25
"""What is this much more crowded than the longest code tells about as much: its last bits are idle,
as they are where more rows look alike than is wanted."""
SHOWN = (4, 8, 12, 16, 20, 24, 28, 32)
"""Lengths whose rows per code are told."""


@dataclass(frozen=True, kw_only=True)
class Aim:
    """How crowded codes should be."""

    rows: float
    """Rows per code."""
    full: float | None
    """Share of all codes in use at the most: where it is larger, a pair that was never seen shares
    a code with some row by chance, and the code is made longer though rows per code get fewer."""


PLAIN = Aim(rows=7.0, full=1 / 16)
"""The paper's penalty worked best at 5 to 10 rows per code."""
VERIFIED = Aim(rows=14.0, full=None)
"""Short codes tell more of the model's error than long ones do (lab/codes.md); pairs that share a
code by chance are found out by its decoder."""


def codes_in_use(words: UInt32[np.ndarray, " rows"]) -> Int[np.ndarray, " lengths"]:
    """How many different codes rows have by their first bit, by their first two, and so on."""
    rest, turned = words.copy(), np.zeros_like(words)
    for _ in range(LONGEST):  # The first bit is the lowest; the order is by the first.
        turned, rest = turned << np.uint32(1) | rest & np.uint32(1), rest >> np.uint32(1)
    turned.sort()
    # The place of the highest bit in which neighbours differ is how many bits they do not share.
    shared = LONGEST - np.frexp((turned[1:] ^ turned[:-1]).astype(np.float64))[1]
    return 1 + np.cumsum(np.bincount(shared, minlength=LONGEST + 1))[:LONGEST]


def crowding(codes: int | np.integer, rows: int, bits: int, aim: Aim) -> float:
    """Rows per code; or, where it is worse, how full the codes are, as rows per code too."""
    each = rows / codes
    return each if aim.full is None else max(each, aim.rows * codes / 2.0**bits / aim.full)


def crowding_by_length(words: UInt32[np.ndarray, "elites rows"], aim: Aim) -> dict[int, float]:
    """How crowded the middle elite's code is, cut to each length."""
    codes, rows = [codes_in_use(member) for member in words], words.shape[1]
    return {
        bits: float(np.median([crowding(each[bits - 1], rows, bits, aim) for each in codes]))
        for bits in range(SHORTEST, LONGEST + 1)
    }


def best_length(crowded: Mapping[int, float], aim: Aim) -> int:
    """The shortest code that is no more crowded than is wanted, or than longer ones are, about."""
    wanted = max(aim.rows, IDLE * crowded[LONGEST])
    return min(length for length in crowded if crowded[length] <= wanted)


def told(crowded: Mapping[int, float]) -> str:
    """How crowded codes of some lengths are."""
    curve = ", ".join(f"{length}: {crowded[length]:.1f}" for length in SHOWN)
    return f"rows per code by code length: {curve}"
