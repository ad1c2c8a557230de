"""Health of a log, before hours are spent on it. Each finding names rows and says what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields, breaks, not_finite
from countmorl.data.findings import Finding
from countmorl.data.readers.mapping import read_mapping
from countmorl.data.sources import Source, read
from countmorl.spaces import ActionSpace

SHOWN = 5
ABSURD = 1e6


def check(source: Fields | Source) -> list[Finding]:
    """Look for everything that is known to spoil a run; errors come first.

    `source` is anything `countmorl.load` takes, or fields already read.
    """
    if isinstance(source, Dataset):
        source = read_mapping(source.stored, name=source.name, task=source.task)
    fields = source if isinstance(source, Fields) else read(source)
    findings = [finding for test in TESTS for finding in test(fields)]
    return sorted(findings, key=lambda finding: finding.level != "error")


def _rows(level: Literal["error", "warning"], kind: str, rows: np.ndarray, text: str) -> Finding:
    first = tuple(int(row) for row in rows[:SHOWN])
    more = ", ..." if len(rows) > SHOWN else ""
    listed = ", ".join(f"{row:,}" for row in first) + more
    plural = "rows" if len(rows) > 1 else "row"
    return Finding(level, kind, f"{text} ({len(rows):,} {plural}: {listed})", first, len(rows))


def _infinite(fields: Fields) -> Iterator[Finding]:
    for key in ("obs", "action", "reward", "next_obs"):
        rows = not_finite(getattr(fields, key))
        if len(rows):
            yield _rows("error", "not-finite", rows, f"`{key}` is NaN or infinite")


def _bounds(fields: Fields) -> Iterator[Finding]:
    low, high = fields.action_low, fields.action_high
    if fields.discrete:
        return
    if (low is None or high is None) and fields.task and fields.task.reference:
        low = np.full(fields.action.shape[1], -1, np.float32)  # Every D4RL task is bounded so.
        high = -low
    if low is None or high is None:
        return
    space = ActionSpace(low=low, high=high)
    slack, rows = space.slack, np.flatnonzero(space.outside(fields.action))
    if len(rows):
        text = f"actions outside their bounds {low.tolist()} to {high.tolist()}"
        yield _rows("error", "action-bounds", rows, text)
    at_edge = (np.abs(fields.action - low) <= slack) | (np.abs(fields.action - high) <= slack)
    share = at_edge.mean(axis=0)
    columns = np.flatnonzero(share > 0.5)
    if len(columns):
        yield Finding(
            "warning",
            "saturated",
            f"action columns {columns.tolist()} sit at a bound in more than half of the rows; "
            "was the controller saturated, or are the bounds too tight?",
            count=len(columns),
        )


def _flags(fields: Fields) -> Iterator[Finding]:
    rows = np.flatnonzero(fields.terminated & fields.truncated)
    if len(rows):
        text = "both terminated and truncated; they are taken as terminated"
        yield _rows("warning", "both-flags", rows, text)
    if not (fields.terminated.any() or fields.truncated.any()) and len(fields.episode_ends) == 1:
        yield Finding(
            "warning",
            "no-episodes",
            "no row is terminated or truncated: the log counts as one long episode. "
            "If it holds several, mark their last rows as truncated.",
        )
    lengths = np.diff(fields.episode_ends, prepend=-1)
    short = fields.episode_ends[lengths == 1]
    if len(short):
        yield _rows("warning", "one-step", short, "episodes of a single step")


def _continuity(fields: Fields) -> Iterator[Finding]:
    rows = np.flatnonzero(
        breaks(fields.obs, fields.next_obs) & ~fields.terminated & ~fields.truncated
    )
    if len(rows):
        text = (
            "`next_obs` is not the next row's `obs` and neither flag is set; an episode is taken "
            "to end there. Is an end not marked, or are the rows shuffled?"
        )
        yield _rows("warning", "not-continuing", rows, text)


def _columns(fields: Fields) -> Iterator[Finding]:
    for key in ("obs", "action"):
        values = getattr(fields, key)
        constant = np.flatnonzero(values.min(axis=0) == values.max(axis=0))
        if len(constant) and key == "action" and fields.discrete:
            text = f"actions {constant.tolist()} are always or never taken"
            yield Finding("warning", "constant", text, count=len(constant))
        elif len(constant):
            text = f"`{key}` columns {constant.tolist()} never change; they carry no information"
            yield Finding("warning", "constant", text, count=len(constant))
        for left, right in _equal_columns(values, set(constant.tolist())):
            text = f"`{key}` columns {left} and {right} are equal in every row"
            yield Finding("warning", "duplicate-column", text, count=2)
    if fields.reward.min() == fields.reward.max():
        text = f"every reward is {fields.reward[0]:g}; there is nothing to prefer"
        yield Finding("warning", "constant", text, count=1)


def _equal_columns(values: np.ndarray, skip: set[int]) -> Iterator[tuple[int, int]]:
    probe = values[:: max(1, len(values) // 1000)]
    for left in range(values.shape[1]):
        for right in range(left + 1, values.shape[1]):
            alike = np.array_equal(probe[:, left], probe[:, right]) and not {left, right} & skip
            if alike and np.array_equal(values[:, left], values[:, right]):
                yield left, right


def _scales(fields: Fields) -> Iterator[Finding]:
    for key in ("obs", "action", "reward"):
        values = getattr(fields, key).reshape(len(fields.obs), -1)
        finite = np.where(np.isfinite(values), np.abs(values), 0)
        rows = np.flatnonzero((finite > ABSURD).any(axis=1))
        if len(rows):
            text = f"`{key}` beyond {ABSURD:g}; a sensor's error code, or a unit to rescale?"
            yield _rows("warning", "scale", rows, text)


def _repeats(fields: Fields) -> Iterator[Finding]:
    keys = row_keys(np.concatenate([fields.obs, fields.action, fields.reward[:, None]], axis=1))
    _, first = np.unique(keys, return_index=True)
    repeated = np.ones(len(keys), bool)
    repeated[first] = False
    rows = np.flatnonzero(repeated)
    if len(rows):
        text = "same observation, action and reward as an earlier row; was the log joined twice?"
        yield _rows("warning", "duplicate-row", rows, text)


def row_keys(values: np.ndarray) -> np.ndarray:
    """Give every row a 64-bit key; equal rows share it, others practically never do."""
    words = np.ascontiguousarray(values, np.float32).view(np.uint32)
    odd = np.random.default_rng(0).integers(1, 2**63, words.shape[1], np.uint64) * 2 + 1
    keys = np.zeros(len(words), np.uint64)
    for column, factor in zip(words.T, odd, strict=True):
        keys = (keys ^ column) * factor
        keys ^= keys >> np.uint64(29)
    return keys


TESTS: tuple[Callable[[Fields], Iterator[Finding]], ...] = (
    _infinite,
    _bounds,
    _flags,
    _continuity,
    _columns,
    _scales,
    _repeats,
)
