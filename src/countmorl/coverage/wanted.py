"""What to log next: regions that the policy reaches, that seem worth much, and that are rare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from countmorl.coverage.axes import Table
from countmorl.coverage.imagined import COVERED, Imagined
from countmorl.coverage.nearest import Nearest
from countmorl.coverage.regions import contrast

MOST, EXAMPLES = 5, 3
BEYOND = 5
"""Steps after the first unseen pair of a rollout: farther on the model says nothing."""
LEAST = 10
"""Imagined pairs that make a region."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A logged row near a region."""

    row: int
    columns: dict[str, float]
    """Its columns of the region, by name."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A region to log next."""

    text: str
    reached: float
    """Share of the imagined rollouts that come there."""
    value: float
    """What the pairs there seem to be worth, on average."""
    usual: float
    """The same of all imagined pairs."""
    rows: int
    """Logged rows there."""
    share: float
    """Share of the rare and valuable imagined pairs that lie there."""
    examples: tuple[Example, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return asdict(self)


def log_next(
    table: Table, imagined: Sequence[tuple[Imagined, np.ndarray]], nearest: Nearest
) -> list[Wanted]:
    """Regions to log, the first the one that holds most of what is rare, reached and valuable.

    `imagined` are rollouts with the value of each of their pairs. Rare: thin or unseen. Valuable:
    above the median of all imagined pairs. Each region is the rectangle that holds most of them
    and least of the log; what it holds is then taken away, and the next is looked for.
    """
    parts = [_candidates(table, *each) for each in imagined]
    numbers, value, rollout, rare = (np.concatenate(each) for each in zip(*parts, strict=True))
    if not len(value):
        return []
    # The policies' rollouts begin at the same logged rows, and are told apart.
    shift = np.repeat(np.arange(len(parts)), [len(part[1]) for part in parts])
    rollouts = sum(each.alive.shape[1] for each, _ in imagined)
    rollout = rollout + shift * rollouts
    good = rare & (value >= np.median(value))
    total, found = int(good.sum()), []
    data = nearest.dataset
    logged = table.numbers(data.obs, data.action)
    while len(found) < MOST and good.sum() >= max(LEAST, 0.02 * total):
        box = contrast(table, numbers[good], logged)
        if box is None or box.gain <= 0:
            break
        here = good & box.holds(table, numbers)
        inside = box.holds(table, logged)
        found.append(
            Wanted(
                text=box.said(table),
                reached=len(np.unique(rollout[here])) / rollouts,
                value=float(value[here].mean()),
                usual=float(value.mean()),
                rows=int(inside.sum()),
                share=float(here.sum() / max(1, total)),
                examples=_examples(table, numbers[here], logged, box.columns),
            )
        )
        good = good & ~here
    return found


def _candidates(
    table: Table, imagined: Imagined, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, values, rollouts of the pairs that can be reached; and which of them are rare."""
    steps, rollouts = imagined.alive.shape
    gone, step = imagined.left
    last = np.full(rollouts, steps)
    last[gone] = step + BEYOND
    reach = imagined.alive & (np.arange(steps)[:, None] < last)
    numbers = table.numbers(imagined.obs[reach], imagined.action[reach])
    rollout = np.broadcast_to(np.arange(rollouts), (steps, rollouts))[reach]
    return numbers, value[reach], rollout, imagined.level[reach] < COVERED


def _examples(
    table: Table, wanted: np.ndarray, logged: np.ndarray, columns: tuple[int, int]
) -> tuple[Example, ...]:
    """Logged rows that are nearest to the middle of a region, in all columns."""
    spread = logged.std(axis=0)
    apart = (logged - np.median(wanted, axis=0)) / np.where(spread == 0, 1, spread)
    rows = np.argsort(np.square(apart).sum(axis=1), kind="stable")[:EXAMPLES]
    return tuple(
        Example(
            row=int(row),
            columns={table.axes[c].name: float(f"{logged[row, c]:.4g}") for c in columns},
        )
        for row in rows
    )
