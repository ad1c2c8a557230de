"""The numbers of the Count-MORL paper (Kim and Oh, ICML 2023), as its tables print them.

Mean of the last five evaluations, then over five seeds; the spread is over seeds. `41.0(09)` is
siunitx's way to write 41.0 ± 0.9: digits in brackets are in units of the last place, unless they
have a point of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

SEEDS = 5
"""Seeds of every number of the paper."""
LAST = 5
"""Evaluations, from the end, that its numbers are means of."""


@dataclass(frozen=True, kw_only=True)
class Number:
    """A published score, with its spread over seeds where one is given."""

    mean: float
    spread: float | None = None


Table = Mapping[str, Mapping[str, Number]]
"""By dataset, then by column."""

ROWS = tuple(
    f"{env}-{kind}"
    for kind in ("random", "medium", "medium-replay", "medium-expert")
    for env in ("halfcheetah", "hopper", "walker2d")
)
"""The order of every table of the paper."""


def parsed(text: str) -> Number:
    """Read a number in siunitx's notation."""
    match = re.fullmatch(r"(-?\d+\.(\d+))(?:\((\d*\.?\d+)\))?", text)
    if not match:
        raise ValueError(f"'{text}' is no number such as 41.0(09).")
    mean, decimals, spread = match.groups()
    if spread is None:
        return Number(mean=float(mean))
    scale = 1.0 if "." in spread else 10.0 ** -len(decimals)
    return Number(mean=float(mean), spread=round(float(spread) * scale, 10))


def _table(version: str, columns: str, text: str) -> Table:
    lines = text.strip().splitlines()
    return {
        f"{row}-{version}": dict(zip(columns.split(), map(parsed, line.split()), strict=True))
        for row, line in zip(ROWS, lines, strict=True)
    }


MAIN_V2 = _table(
    "v2",
    "count-morl repb-sde rambo combo mopo morel cql td3-bc bc",
    """
    41.0(09)   32.9 40.0 36.7(21)  34.0(28)   25.6  26.6(08)  11.0  2.1
    30.7(13)   8.6  21.6 7.8(09)   7.0(19)    53.6  9.4(06)   8.5   9.8
    21.9(02)   21.1 11.5 5.9(03)   5.6(57)    37.3  -0.4(08)  1.6   1.6
    76.5(1.7)  49.1 77.6 61.6(15)  67.8(23)   42.1  47.2(06)  48.3  36.1
    103.6(3.7) 34.0 92.8 63.3(24)  20.9(139)  95.4  62.2(44)  59.3  29.0
    87.6(3.7)  72.1 86.9 70.1(50)  -0.1(01)   77.8  76.1(16)  83.7  6.6
    71.5(18)   57.5 68.9 57.0(12)  66.2(30)   40.2  44.6(07)  44.6  38.4
    101.7(08)  62.2 96.6 71.5(80)  64.2(289)  93.6  98.3(13)  60.9  11.8
    87.7(30)   49.8 85.0 52.6(45)  67.9(157)  49.8  82.1(26)  81.8  11.3
    100.0(49)  55.4 93.7 65.3(97)  91.7(99)   53.3  90.6(44)  90.7  35.8
    111.4(05)  82.6 83.3 105.4(45) 21.9(209)  108.7 98.2(110) 98.0  111.9
    112.3(18)  88.8 68.3 73.7(127) 4.0(54)    95.6  109.3(06) 110.1 6.4
    """,
)
"""Table 1."""

MAIN_V0 = _table(
    "v0",
    "count-morl combo mopo cql",
    """
    40.5(04)  38.8  35.4 35.4
    11.9(02)  17.9  11.7 10.8
    21.5(02)  7.0   13.6 7.0
    56.2(08)  54.2  42.3 44.4
    82.3(2.4) 97.2  28.0 86.6
    80.5(0.7) 81.9  17.8 74.5
    59.4(05)  55.1  53.1 46.2
    91.1(07)  89.5  67.5 48.6
    76.1(40)  56.0  39.0 32.6
    102.9(01) 90.0  63.3 62.4
    112.1(03) 111.1 23.7 111.0
    102.3(05) 103.3 44.6 98.7
    """,
)
"""The table of MuJoCo-v0."""

ESTIMATES = _table(
    "v2",
    "LC AVG UC",
    """
    41.0(09)  38.7(05)  39.1(10)
    30.7(13)  27.7(62)  26.5(65)
    21.9(01)  21.9(01)  21.9(02)
    74.2(25)  76.5(17)  74.6(16)
    99.7(72)  101.8(47) 103.6(37)
    84.2(29)  87.6(37)  85.2(26)
    71.2(29)  71.1(08)  71.5(18)
    98.9(39)  100.2(09) 101.7(08)
    84.3(31)  85.8(28)  87.7(30)
    94.8(55)  98.1(25)  100.0(49)
    107.2(47) 109.4(12) 111.4(05)
    109.7(14) 110.7(05) 112.3(18)
    """,
)
"""Count-MORL by its estimate of the count."""

DIMENSIONS = _table(
    "v2",
    "16 32 50 64 80",
    """
    36.7(05)  38.4(09)   41.0(09)  36.2(10)  35.6(08)
    22.9(62)  21.5(84)   24.7(68)  27.6(64)  30.7(13)
    21.8(01)  21.8(01)   21.9(01)  21.9(01)  21.8(01)
    74.4(15)  76.5(17)   75.7(14)  75.2(19)  73.9(16)
    90.5(31)  93.2(46)   103.6(37) 98.3(58)  95.1(39)
    82.2(09)  87.6(37)   81.4(18)  80.1(15)  80.5(07)
    68.7(19)  71.5(18)   68.2(15)  67.3(17)  65.8(17)
    94.4(37)  97.1(41)   101.7(08) 94.6(49)  92.3(32)
    85.8(17)  87.7(30)   82.4(38)  80.7(13)  81.0(25)
    98.1(34)  100.0(49)  99.1(28)  98.6(32)  93.4(27)
    95.2(73)  90.3(16.6) 111.4(05) 108.3(18) 102.8(32)
    103.4(26) 106.1(34)  112.3(18) 109.6(20) 105.8(29)
    """,
)
"""Count-MORL by the length d of its codes."""

DIMENSION_ESTIMATES = dict(
    zip(DIMENSIONS, "LC LC LC AVG UC AVG UC UC UC UC UC UC".split(), strict=True)
)
"""The estimate that the table of dimensions was made with."""

MAIN: Table = {**MAIN_V2, **MAIN_V0}
"""The methods of the paper on all its datasets."""
OLDER = ("repb-sde", "morel", "bc")
"""Columns of Table 1 that are of v0 data, whatever the paper says."""


def d4rl_name(name: str) -> str | None:
    """D4RL's own name of a dataset that the paper has, from a name or a file's stem."""
    plain = name.replace("\\", "/").split("/")[-1].removesuffix(".hdf5").lower().replace("_", "-")
    return plain if plain in MAIN else None
