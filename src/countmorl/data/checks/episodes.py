"""Where episodes end, whether rows continue, and what is there twice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from countmorl.data.checks.common import SHOWN, Timeline, of_rows
from countmorl.data.ends import breaks
from countmorl.data.fields import Fields
from countmorl.data.findings import Finding

ROUNDING = 1e-3
"""Share of a column's spread below which a difference is the work of rounding."""


def flags(fields: Fields) -> Iterator[Finding]:
    """Flags that contradict each other, are missing, or come too often."""
    rows = np.flatnonzero(fields.terminated & fields.truncated)
    if len(rows):
        text = "both terminated and truncated; they are taken as terminated"
        yield of_rows("warning", "both-flags", rows, text)
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
        yield of_rows("warning", "one-step", short, "episodes of a single step")


def returning(fields: Fields) -> Iterator[Finding]:
    """Episodes whose id comes back after others."""
    if len(fields.returning):
        text = (
            "an episode's id comes back after others, and a new episode is taken to begin there; "
            "if the rows of several episodes are mixed, sort them by id and time"
        )
        yield of_rows("warning", "id-returns", fields.returning, text)


def time_limit(fields: Fields) -> Iterator[Finding]:
    """Ends that all come after the same number of steps."""
    ends = fields.episode_ends
    lengths = np.diff(ends, prepend=-1)
    terminated = fields.terminated[ends]
    if len(ends) > 1 and not (fields.terminated | fields.truncated)[ends[-1]]:
        lengths, terminated = lengths[:-1], terminated[:-1]  # The log stopped in the last one.
    alike = len(lengths) > 2 and lengths[0] > 1 and (lengths == lengths[0]).all()
    if alike and terminated.all():
        text = (
            f"all {len(lengths):,} episodes are terminated after exactly {lengths[0]:,} steps: is "
            "that a time limit? Then mark those rows as truncated, or the policy learns that the "
            "world ends there"
        )
        yield of_rows("warning", "same-length", ends, text)


def cut_rewards(fields: Fields) -> Iterator[Finding]:
    """Rewards in rows that no model and no critic learns from."""
    ends = fields.episode_ends
    known = np.full(len(ends), fields.next_obs is not None)
    if fields.next_known is not None:
        known &= fields.next_known[ends]
    rows = ends[~fields.terminated[ends] & ~known]
    size = np.abs(fields.reward, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # Infinite rewards are found elsewhere.
        share = size[rows].sum() / max(size.sum(), np.finfo(np.float32).tiny)
    if len(ends) > 1 and share > 0.5 and 2 * len(rows) < len(size):
        text = (
            f"{share:.0%} of what was paid was paid in last rows of episodes that were cut, and "
            "without a next observation nothing but imitation learns from those. Where the outcome "
            "ended the task, mark such rows as terminated"
        )
        yield of_rows("warning", "cut-rewards", rows, text)


def continuity(fields: Fields) -> Iterator[Finding]:
    """Next observations that are not the next row's."""
    rows = np.flatnonzero(
        breaks(fields.obs, fields.next_obs) & ~fields.terminated & ~fields.truncated
    )
    if not len(rows):
        return
    if _by_rounding(fields, rows):
        text = (
            "`next_obs` differs from the next row's `obs` by rounding, so an episode is taken to "
            "end there; store both in the same precision"
        )
        yield of_rows("warning", "not-continuing", rows, text)
    elif 2 * len(rows) > len(fields.obs):
        text = (
            "most rows do not continue: `next_obs` is not the next row's `obs`. The rows seem to "
            "be shuffled; put them in the order in which they happened"
        )
        yield of_rows("error", "not-continuing", rows, text)
    else:
        text = (
            "`next_obs` is not the next row's `obs` and neither flag is set; an episode is taken "
            "to end there. Is an end not marked, or are the rows shuffled?"
        )
        yield of_rows("warning", "not-continuing", rows, text)


def _by_rounding(fields: Fields, rows: np.ndarray) -> bool:
    """Whether the first thousand jumps are all too small to be jumps."""
    some = rows[:1000]
    with np.errstate(invalid="ignore"):  # Between infinities, which are found elsewhere.
        jump = np.abs(np.subtract(fields.next_obs[some], fields.obs[some + 1], dtype=np.float64))  # type: ignore[index]
        spread = fields.obs[:: max(1, len(fields.obs) // 10_000)].std(axis=0, dtype=np.float64)
        return bool((jump <= ROUNDING * spread).all())


def repeats(fields: Fields) -> Iterator[Finding]:
    """Episodes and rows that are there twice; a row of a repeated episode is not said again."""
    keys = row_keys(np.concatenate([fields.obs, fields.action, fields.reward[:, None]], axis=1))
    timeline = Timeline.of(fields)
    copies = _copies(_episode_keys(keys, timeline)) & (timeline.lengths > 1)
    if copies.any():
        starts = timeline.starts[copies]
        listed = ", ".join(f"{row:,}" for row in starts[:SHOWN])
        more = ", ..." if len(starts) > SHOWN else ""
        yield Finding(
            "warning",
            "duplicate-episode",
            f"{len(starts):,} episodes equal earlier ones, row for row; was the log joined twice? "
            f"(they begin in rows {listed}{more})",
            tuple(starts[:SHOWN].tolist()),
            len(starts),
        )
    rows = np.flatnonzero(_copies(keys) & ~np.repeat(copies, timeline.lengths))
    if len(rows):
        text = "same observation, action and reward as an earlier row; was the log joined twice?"
        yield of_rows("warning", "duplicate-row", rows, text)


def _copies(keys: np.ndarray) -> np.ndarray:
    """Mark all but the first of equal keys."""
    _, first = np.unique(keys, return_index=True)
    repeated = np.ones(len(keys), bool)
    repeated[first] = False
    return repeated


def _episode_keys(keys: np.ndarray, timeline: Timeline) -> np.ndarray:
    """A key for each episode, made of its rows' keys, their places, and its length."""
    place = timeline.steps().astype(np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = (keys ^ (keys >> np.uint64(31))) * (place * np.uint64(0x9E3779B97F4A7C15))
    total = np.add.reduceat(mixed, timeline.starts)
    return total ^ timeline.lengths.astype(np.uint64)


def row_keys(values: np.ndarray) -> np.ndarray:
    """Give every row a 64-bit key; equal rows share it, others practically never do."""
    words = np.ascontiguousarray(values, np.float32).view(np.uint32)
    odd = np.random.default_rng(0).integers(1, 2**63, words.shape[1], np.uint64) * 2 + 1
    keys = np.zeros(len(words), np.uint64)
    for column, factor in zip(words.T, odd, strict=True):
        keys = (keys ^ column) * factor
        keys ^= keys >> np.uint64(29)
    return keys
