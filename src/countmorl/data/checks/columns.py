"""Columns that tell nothing, or tell the same twice, or tell nothing but the time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from countmorl.data.checks.common import FEWEST, Timeline, of_columns, own_columns
from countmorl.data.fields import Fields
from countmorl.data.findings import Finding

TIMES = ("elapsed", "hour", "weekday")
"""Kinds of columns that are there to tell the time."""


def constants(fields: Fields) -> Iterator[Finding]:
    """What never changes; a column that only the cast has flattened is not meant."""
    for key in ("obs", "action"):
        values = getattr(fields, key)
        still = np.flatnonzero(values.min(axis=0) == values.max(axis=0)).tolist()
        still = sorted(set(still) - _flattened(fields, key))
        if not still:
            continue
        if key == "obs":
            text = "never change; they carry no information"
            yield of_columns("warning", "constant", fields, key, still, text)
        elif fields.discrete:
            listed = fields.column_names(key, tuple(still))
            text = f"actions [{listed}] are always or never taken"
            yield Finding("warning", "constant", text, count=len(still))
        else:
            every = len(still) == values.shape[1]
            text = "never change; " + (
                "nothing can be learned of any other action" if every else "they cannot be learned"
            )
            yield of_columns("warning", "constant", fields, key, still, text)
    if fields.reward.min() == fields.reward.max() and not _flattened(fields, "reward"):
        text = f"every reward is {fields.reward[0]:g}; there is nothing to prefer"
        yield Finding("warning", "constant", text, count=1)


def _flattened(fields: Fields, key: str) -> set[int]:
    return {column for loss in fields.lost if loss.key == key for column in loss.columns}


def twins(fields: Fields) -> Iterator[Finding]:
    """Columns that are equal in every row; found by their hashes, in one pass."""
    for key in ("obs", "action"):
        groups: dict[bytes, list[int]] = {}
        for index, column in own_columns(fields, key):
            # Adding zero makes one of the two zeros of floating point.
            hashed = hashlib.blake2b((column + np.float32(0)).data, digest_size=16).digest()
            groups.setdefault(hashed, []).append(index)
        for equal in groups.values():
            if len(equal) > 1:
                names = fields.obs_names if key == "obs" else fields.action_names
                listed = [names[i] for i in equal]
                said = f"{', '.join(listed[:-1])} and {listed[-1]}"
                text = f"`{key}` columns {said} are equal in every row"
                yield Finding("warning", "duplicate-column", text, count=len(equal))


def clocks(fields: Fields) -> Iterator[Finding]:
    """Columns of observations that tell nothing but how long an episode has gone on."""
    timeline = Timeline.of(fields)
    meant = _times(fields)
    ticking, repeating = [], []
    course = _course(timeline)
    for index, column in own_columns(fields, "obs"):
        if index in meant:
            continue
        if _ticks(column, timeline):
            ticking.append(index)
        elif course is not None and _repeats(column, timeline, course):
            repeating.append(index)
    if ticking:
        text = (
            "grow by the same step in every row: a clock. A policy can learn to act by the date; "
            "drop them, or give the time since the episode began if it matters"
        )
        yield of_columns("warning", "clock", fields, "obs", ticking, text)
    if repeating:
        text = "take the same course in every episode: functions of time, not of what was done"
        yield of_columns("warning", "clock", fields, "obs", repeating, text)


def _times(fields: Fields) -> set[int]:
    """Columns that the schema itself calls a time."""
    if fields.schema is None:
        return set()
    kinds = [column.kind for column in fields.schema.obs for _ in column.numbers]
    return {index for index, kind in enumerate(kinds) if kind in TIMES}


def _ticks(column: np.ndarray, timeline: Timeline) -> bool:
    """Whether a column grows by a constant from row to row; most fail in the first rows."""
    for rows in (1000, len(column)):
        inside = timeline.within[: rows - 1]
        steps = np.diff(column[:rows].astype(np.float64))[inside]
        if len(steps) < FEWEST:
            return False
        step, grain = steps[0], float(np.spacing(np.abs(column[:rows]).max()))
        if abs(step) < 8 * grain or np.abs(steps - step).max() > 1e-3 * abs(step) + 4 * grain:
            return False
    return True


def _course(timeline: Timeline) -> np.ndarray | None:
    """Rows of the longest episode that stand for every row's step; None of too few episodes."""
    longest = int(timeline.lengths.argmax())
    rest = timeline.lengths.sum() - timeline.lengths[longest]
    if (timeline.lengths > 2).sum() < 3 or rest < FEWEST:
        return None
    return timeline.starts[longest] + timeline.steps()


def _repeats(column: np.ndarray, timeline: Timeline, course: np.ndarray) -> bool:
    """Whether every episode shows what the longest one shows at the same step."""
    longest = int(timeline.lengths.argmax())
    start = timeline.starts[longest]
    own = column[start : start + timeline.lengths[longest]]
    close = 1e-5 * np.ptp(column)
    if np.ptp(own) <= close:
        return False
    few = slice(None, None, max(1, len(column) // 1000))
    return bool(
        (np.abs(column[few] - column[course[few]]) <= close).all()
        and (np.abs(column - column[course]) <= close).all()
    )
