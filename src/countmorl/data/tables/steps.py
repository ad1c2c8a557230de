"""Rows made steps: missing ones dropped, ends marked, rows of one step added up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.data.findings import Finding
from countmorl.data.tables.episodes import Order, Rows
from countmorl.data.tables.layout import Flag
from countmorl.data.tables.missing import dropped_rows, fill_reward
from countmorl.data.tables.survey import UNKNOWN, Survey
from countmorl.errors import DataError

Truth = dict[Flag, np.ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """What is left of the rows, in order, and the steps that they make."""

    rows: np.ndarray | None
    """Rows of the table; None where all are there, in order."""
    starts: np.ndarray
    """Whether an episode begins with a row."""
    taken: np.ndarray | None
    """Rows that begin a step; None where every row is one."""
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    dropped: int
    findings: tuple[Finding, ...]
    propensity: np.ndarray | None = None
    """How likely each action was, where the table tells; only where every row is a step."""

    @property
    def ends(self) -> np.ndarray:
        """The last step of each episode."""
        return np.flatnonzero(self.terminated | self.truncated)


def known_flags(found: Survey, flags: Truth) -> Truth:
    """Flags as true and false; missing ones as was said."""
    truth: Truth = {}
    for flag, values in flags.items():
        fill = found.layout.flags[flag].column.fill
        truth[flag] = np.where(values == UNKNOWN, bool(fill), values == 1)
    return truth


def make_steps(
    found: Survey,
    order: Order,
    reward: np.ndarray,
    truth: Truth,
    skip: int,
    chance: np.ndarray | None = None,
) -> Steps:
    """Drop rows, mark the ends of episodes, and add up the rows of a step."""
    none = np.zeros(found.rows, bool)
    ended = {f: truth.get(f, none) for f in ("terminated", "truncated")}
    ordered = {f: v if order.rows is None else v[order.rows] for f, v in ended.items()}
    findings = list(_ends_within(found, order, ordered))
    rewards, rows = fill_reward(found, reward, order), order.rows
    starts = order.starts.copy()
    starts[1:] |= (ordered["terminated"] | ordered["truncated"])[:-1]
    gone = dropped_rows(found, reward)
    dropped = 0
    if gone is not None:
        out = gone if rows is None else gone[rows]
        dropped = int(out.sum())
        if dropped == len(out):
            raise DataError("A value is missing in every row, so all would be dropped.")
        # After a row that is gone an episode begins anew.
        starts[1:] |= out[:-1]
        rows = (np.arange(len(out)) if rows is None else rows)[~out]
        starts = starts[~out]
        rewards = rewards[~out]
        ordered = {f: v[~out] for f, v in ordered.items()}
    terminated, truncated = ordered["terminated"], ordered["truncated"]
    both = np.flatnonzero(terminated & truncated)
    if len(both):
        text = "an end is both terminated and truncated; it counts as terminated"
        at = both if rows is None else rows[both]
        findings.append(Rows(found.where).finding("both-flags", at, text))
    last = np.append(starts[1:], True)
    truncated = (truncated | last) & ~terminated
    taken = None
    if skip > 1:
        taken, rewards, terminated, truncated = _skipped(
            starts, skip, rewards, terminated, truncated
        )
    return Steps(
        rows=rows,
        starts=starts,
        taken=taken,
        reward=rewards,
        propensity=chance if chance is None or rows is None else chance[rows],
        terminated=terminated,
        truncated=truncated,
        dropped=dropped,
        findings=tuple(findings),
    )


def _skipped(
    starts: np.ndarray, skip: int, *columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows that begin a step, and what is left of rewards and flags: sums, and whether any is."""
    taken = position(starts) % skip == 0
    first = np.flatnonzero(taken)
    reward, terminated, truncated = columns
    return (
        taken,
        np.add.reduceat(reward, first),
        np.logical_or.reduceat(terminated, first),
        np.logical_or.reduceat(truncated, first),
    )


def position(starts: np.ndarray, before: int = 0) -> np.ndarray:
    """How many rows of its episode come before each; `before` counts those of an earlier block."""
    at = np.arange(len(starts))
    begin = np.maximum.accumulate(np.where(starts, at, -before))
    return at - begin


def _ends_within(found: Survey, order: Order, ordered: dict) -> list[Finding]:
    """Ends after which the same id goes on."""
    if found.layout.episode is None:
        return []
    findings = []
    for flag, values in ordered.items():
        within = np.flatnonzero(values[:-1] & ~order.group_starts[1:])
        if len(within):
            text = (
                f"`{flag}` is true in rows after which the same episode goes on; a new one is "
                "taken to begin there. Is it said in every row of an episode, not in its last?"
            )
            at = within if order.rows is None else order.rows[within]
            findings.append(Rows(found.where).finding("ends-within", at, text))
    return findings
