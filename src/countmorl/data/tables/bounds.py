"""Bounds of the actions of a log: given, or found in the data, and what lies on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from countmorl.data.findings import Finding
from countmorl.errors import ConfigError, DataError
from countmorl.spaces import SLACK

RARE = 1e-3
"""Share of rows that may lie at either end without deciding the bounds alone."""
STRETCH = 10
"""How many times the range of the others such rows may stretch the bounds."""


@dataclass(frozen=True)
class Bounds:
    """The range of one number of an action."""

    name: str
    low: float
    high: float
    given: bool
    on_low: float
    """Share of the rows that lies on the lower bound."""
    on_high: float


def bounds_of(
    name: str,
    values: np.ndarray,
    given: tuple[float | None, float | None],
    where: Callable[[int], str],
) -> tuple[Bounds, list[Finding]]:
    """Bounds of a column of actions; numbers outside given ones are refused."""
    low, high = float(values.min()), float(values.max())
    findings: list[Finding] = []
    if None in given:
        _refuse_stretched(name, values, low, high, where)
    bottom = low if given[0] is None else given[0]
    top = high if given[1] is None else given[1]
    if low == high and bottom == top:
        text = f"the action '{name}' is {low:g} in every row; nothing can be learned about it"
        findings.append(Finding("warning", "constant", text, count=1))
        top = bottom + 1
    if not bottom < top:
        raise ConfigError(f"The bounds of '{name}' are empty: low {bottom:g}, high {top:g}.")
    slack = SLACK * (top - bottom)
    outside = (values < bottom - slack) | (values > top + slack)
    if outside.any():
        row = int(outside.argmax())
        raise DataError(
            f"The action '{name}' is {values[row]:g} in {where(row)}, outside its bounds "
            f"{bottom:g} and {top:g} ({outside.sum():,} rows are). Correct the bounds or the rows."
        )
    bottom32, top32 = np.float32(bottom), np.float32(top)
    shares = float((values <= bottom32).mean()), float((values >= top32).mean())
    return Bounds(name, bottom, top, None not in given, *shares), findings


def _refuse_stretched(
    name: str, values: np.ndarray, low: float, high: float, where: Callable[[int], str]
) -> None:
    """A few rows far from all others are more likely wrong than the range of the action."""
    usual = np.quantile(values, [RARE, 1 - RARE], method="nearest")
    width = float(usual[1] - usual[0])
    if len(values) < 1 / RARE or width <= 0 or high - low <= STRETCH * width:
        return
    row = int(np.argmax(np.abs(values - np.median(values))))
    raise DataError(
        f"The action '{name}' lies between {usual[0]:g} and {usual[1]:g} nearly always, but is "
        f"{values[row]:g} in {where(row)}. Bounds taken from the data would be ruled by that; "
        "correct the row, or give the bounds with --action-low and --action-high."
    )


def given_bounds(low: tuple[float, ...], high: tuple[float, ...], size: int) -> list[tuple]:
    """What was said of the bounds of each number: one for all, or one for each."""
    sides = []
    for option, values in (("action_low", low), ("action_high", high)):
        if len(values) not in (0, 1, size):
            raise ConfigError(f"`{option}` wants one number, or {size}; got {len(values)}.")
        sides.append(values * size if len(values) == 1 else values or (None,) * size)
    return list(zip(*sides, strict=True))
