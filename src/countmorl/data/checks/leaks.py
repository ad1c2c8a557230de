"""Columns that tell what cannot be known yet: the reward, the action, the next action."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from countmorl.data.checks.common import FEWEST, Timeline, named
from countmorl.data.fields import Fields, not_finite
from countmorl.data.findings import Finding

PROBE = 10_000
"""Rows in which candidates are looked for; all rows are asked before anything is said."""
PERFECT = 1 - 1e-6
"""Correlation from which a column is a multiple of another, up to rounding."""


def leaks(fields: Fields) -> Iterator[Finding]:
    """Observations that equal, or are a multiple of, what the row itself is to bring about."""
    if len(fields.obs) < FEWEST or any(
        len(not_finite(values)) for values in (fields.obs, fields.action, fields.reward)
    ):
        return
    inside = np.flatnonzero(Timeline.of(fields).within)
    everywhere = np.arange(len(fields.obs))
    action = _action(fields)
    yield from _leak(fields, fields.reward[:, None], everywhere, 0, "the reward of the same row")
    yield from _leak(fields, action, everywhere, 0, "the action of the same row")
    yield from _leak(fields, action, inside, 1, "the next row's action")


def _action(fields: Fields) -> np.ndarray:
    """Actions as numbers; a discrete one by its number, and by whether it is taken."""
    if not fields.discrete:
        return fields.action
    number = fields.action.argmax(axis=1).astype(np.float32)
    return np.concatenate([number[:, None], fields.action], axis=1)


def _leak(
    fields: Fields, target: np.ndarray, rows: np.ndarray, ahead: int, what: str
) -> Iterator[Finding]:
    if len(rows) < FEWEST:
        return
    some = rows[:: max(1, len(rows) // PROBE)]
    pairs = np.argwhere(np.abs(_correlation(fields.obs[some], target[some + ahead])) > PERFECT)
    found: list[int] = []
    for column, other in pairs.tolist():
        # Pairs come column by column. One that is found is not asked again: equal columns and
        # equal actions would else be put to each other, all to all.
        if column not in found[-1:] and _perfect(fields, target, rows, ahead, column, other):
            found.append(column)
    if found:
        text = (
            f"`obs` {named(fields, 'obs', found)} are {what}, or a multiple of it. Is it known "
            "before the action is chosen? If not, it must not be seen"
        )
        yield Finding("warning", "leak", text, count=len(found))


def _perfect(
    fields: Fields, target: np.ndarray, rows: np.ndarray, ahead: int, column: int, other: int
) -> bool:
    left, right = fields.obs[rows, column, None], target[rows + ahead, other, None]
    return bool(abs(_correlation(left, right)[0, 0]) > PERFECT)


def _correlation(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Correlation of every column with every other; 0 where one does not vary."""
    return _standard(left).T @ _standard(right) / len(left)


def _standard(values: np.ndarray) -> np.ndarray:
    centred = values - values.mean(axis=0, dtype=np.float64)
    spread = centred.std(axis=0)
    # What rounding alone makes of a constant does not count as variation.
    moves = spread > 1e-6 * np.abs(values).max(axis=0)
    return np.where(moves, centred / np.where(moves, spread, 1), 0)
