"""Rows put in order, and cut into episodes: by id, by gaps in time, by a flag."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from countmorl.data.findings import Finding
from countmorl.data.tables.engine import pl
from countmorl.errors import ConfigError

SHOWN = 5
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
LENGTH = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table as a person finds them."""

    where: Callable[[int], str]
    """Tells where a row is, counted from 0 in the whole table."""
    numbers: np.ndarray | None = None
    """The rows that are spoken of; None for all."""

    def finding(self, kind: str, at: np.ndarray, text: str) -> Finding:
        """A finding about some of the rows; they are counted from 1."""
        rows = np.sort(at if self.numbers is None else self.numbers[at])
        first = tuple(int(row) + 1 for row in rows[:SHOWN])
        plural = "rows" if len(rows) > 1 else "row"
        message = f"{text} ({len(rows):,} {plural}, first in {self.where(int(rows[0]))})"
        return Finding("warning", kind, message, first, len(rows))


@dataclass(frozen=True, eq=False)
class Order:
    """The rows of a table as they follow each other."""

    rows: np.ndarray | None
    """Rows of the table in their order; None where they lie so already."""
    starts: np.ndarray
    """Whether an episode begins with a row, in that order."""
    group_starts: np.ndarray
    """Whether a row is the first of its id."""
    findings: tuple[Finding, ...]


def put_in_order(
    ids: np.ndarray | None,
    time: np.ndarray | None,
    flag: np.ndarray | None,
    gap: float | None,
    count: int,
    table: Rows,
) -> Order:
    """Sort rows by id and time, stably, and find where episodes begin."""
    findings: list[Finding] = []
    group, rows = _groups(ids, count, findings, table)
    if time is not None:
        rows = _by_time(group, time, rows, findings, table)
    starts = np.zeros(count, bool)
    starts[0] = True
    ordered = group if rows is None or group is None else group[rows]
    if ordered is not None:
        starts[1:] = ordered[1:] != ordered[:-1]
    group_starts = starts.copy()
    if time is not None:
        later = time if rows is None else time[rows]
        _same_times(later, group_starts, rows, findings, table)
        if gap is not None:
            starts[1:] |= np.diff(later) > gap
    if flag is not None:
        starts |= flag if rows is None else flag[rows]
    return Order(rows, starts, group_starts, tuple(findings))


def _groups(
    ids: np.ndarray | None, count: int, findings: list[Finding], table: Rows
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The number of each row's id, by first appearance, and the order that brings ids together."""
    if ids is None:
        return None, None
    begins = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    number, known = _numbered(ids[begins])
    group = np.repeat(number, np.diff(begins, append=count))
    if known == len(begins):
        return group, None
    # Numbers are given by first appearance: one that is not the highest so far was there before.
    again = np.append(False, number[1:] <= np.maximum.accumulate(number)[:-1])
    text = "an id comes back after rows of others; rows of one id are brought together"
    findings.append(table.finding("overlapping-ids", begins[again], text))
    return group, np.argsort(group, kind="stable")


def _numbered(ids: np.ndarray) -> tuple[np.ndarray, int]:
    """The number of each id, by first appearance, and how many there are."""
    values = pl.Series(ids)
    known = values.unique(maintain_order=True)
    number = values.replace_strict(known, pl.int_range(len(known), eager=True))
    # The smallest type, since whole numbers of up to 16 bits are sorted fastest.
    return number.to_numpy().astype(np.min_scalar_type(len(known))), len(known)


def _by_time(
    group: np.ndarray | None,
    time: np.ndarray,
    rows: np.ndarray | None,
    findings: list[Finding],
    table: Rows,
) -> np.ndarray | None:
    later = time if rows is None else time[rows]
    back = later[1:] < later[:-1]
    if group is not None:
        ordered = group if rows is None else group[rows]
        back &= ordered[1:] == ordered[:-1]
    wrong = np.flatnonzero(back) + 1
    if not len(wrong):
        return rows
    text = "time runs backwards within an episode's rows; they are put in order"
    findings.append(table.finding("time-backwards", wrong if rows is None else rows[wrong], text))
    by_time = np.argsort(time, kind="stable")
    return by_time if group is None else by_time[np.argsort(group[by_time], kind="stable")]


def _same_times(
    later: np.ndarray,
    starts: np.ndarray,
    rows: np.ndarray | None,
    findings: list[Finding],
    table: Rows,
) -> None:
    same = np.flatnonzero((later[1:] == later[:-1]) & ~starts[1:]) + 1
    if len(same):
        text = "two rows of an episode have the same time; they stay in the order of the table"
        at = same if rows is None else rows[same]
        findings.append(table.finding("duplicate-times", at, text))


def gap_length(gap: str | float | None, *, dated: bool, has_time: bool) -> float | None:
    """How far apart rows of an episode may be, in the unit of their time."""
    if gap is None:
        return None
    if not has_time:
        raise ConfigError("`gap` needs to know the time: name its column with --time.")
    found = LENGTH.fullmatch(str(gap))
    unit = found[2].lower() if found else ""
    if found is None or (unit and unit not in UNITS):
        raise ConfigError(f"`gap` wants a duration such as 30s, 10m, 2h, 7d, 1w; got '{gap}'.")
    if dated and not unit:
        raise ConfigError(f"Time is told by dates here, so `gap` needs a unit: {gap}m, {gap}h?")
    if not dated and unit:
        raise ConfigError(
            f"Time is a plain number here, so `gap` must be one too, in the same unit; got '{gap}'."
        )
    return float(found[1]) * (UNITS[unit] * 1e6 if unit else 1.0)
