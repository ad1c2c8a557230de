"""What to log next: regions that the policy reaches, that seem worth much, and that are rare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from countmorl.coverage.axes import Table
from countmorl.coverage.imagined import UNSEEN, Imagined
from countmorl.coverage.nearest import Nearest
from countmorl.coverage.regions import contrast

MOST, EXAMPLES = 5, 3
MARGIN = 0.01
"""Deviations by which a pair must be worth more than what is usual."""
BEYOND = 5
"""Steps after the first unseen pair of a rollout: farther on the model says nothing."""
SPARSE = 0.075
"""Share of the log beyond which a region is logged often enough, whatever else is rare there."""
LEAST = 10
"""Imagined pairs that make a region."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A logged row near a region."""

    row: int
    """Where it lies in the log; 0 is the first."""
    columns: dict[str, float | str]
    """Its columns of the region, by name."""

    @property
    def text(self) -> str:
        """The row in words."""
        told = ", ".join(f"{name} {value}" for name, value in self.columns.items())
        return f"row {self.row:,} ({told})"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A region to log next."""

    text: str
    reached: float
    """Share of the imagined rollouts that come there."""
    value: float
    """What the pairs there seem to be worth, on average."""
    usual: float
    """The same of what is usual: of what a clone of the log would do in the same situations, or,
    without critics, of all imagined pairs."""
    rows: int
    """Logged rows there."""
    share: float
    """Share of the rare and valuable imagined pairs that lie there."""
    examples: tuple[Example, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return asdict(self)


def log_next(
    table: Table,
    imagined: Sequence[tuple[Imagined, np.ndarray, np.ndarray]],
    nearest: Nearest,
    *,
    least: float,
    rows: np.ndarray | None = None,
) -> list[Wanted]:
    """Regions to log, the first the one that holds most of what is rare, reached and valuable.

    `imagined` are rollouts with the value of each of their pairs, and what is usual there. Rare:
    unseen, or of a count below `least`. Valuable: above what is usual. Each region is the rectangle
    that holds most of them and least of the log; what it holds is then taken away, and the next is
    looked for. `rows` says where logged rows lie in the whole log, where they are a part of it.
    """
    parts = [_candidates(table, *each, least) for each in imagined]
    numbers, value, usual, rollout, rare = (
        np.concatenate(each) for each in zip(*parts, strict=True)
    )
    if not len(value):
        return []
    # The policies' rollouts begin at the same logged rows, and are told apart.
    shift = np.repeat(np.arange(len(parts)), [len(part[1]) for part in parts])
    rollouts = sum(each.alive.shape[1] for each, *_ in imagined)
    rollout = rollout + shift * rollouts
    good = rare & (value - usual > MARGIN * value.std())
    total, found = int(good.sum()), []
    data = nearest.dataset
    logged = table.numbers(data.obs, data.action)
    numbered = np.arange(len(data)) if rows is None else rows
    while len(found) < MOST and good.sum() >= max(LEAST, 0.02 * total):
        box = contrast(table, numbers[good], logged, most=SPARSE)
        if box is None or box.gain <= 0:
            break
        here = good & box.holds(table, numbers)
        inside = box.holds(table, logged)
        found.append(
            Wanted(
                text=box.said(table),
                reached=len(np.unique(rollout[here])) / rollouts,
                value=float(value[here].mean()),
                usual=float(usual[here].mean()),
                rows=int(inside.sum()),
                share=float(here.sum() / max(1, total)),
                examples=_examples(table, numbers[here], logged, box.columns, numbered),
            )
        )
        good = good & ~here
    return found


def _candidates(
    table: Table, imagined: Imagined, value: np.ndarray, usual: np.ndarray, least: float
) -> tuple[np.ndarray, ...]:
    """Numbers, values, usual values, rollouts of the pairs in reach; and which of them are rare."""
    steps, rollouts = imagined.alive.shape
    gone, step = imagined.left
    last = np.full(rollouts, steps)
    last[gone] = step + BEYOND
    reach = imagined.alive & (np.arange(steps)[:, None] < last)
    numbers = table.numbers(imagined.obs[reach], imagined.action[reach])
    rollout = np.broadcast_to(np.arange(rollouts), (steps, rollouts))[reach]
    rare = (imagined.level[reach] == UNSEEN) | (imagined.count[reach] < least)
    return numbers, value[reach], usual[reach], rollout, rare


def _examples(
    table: Table,
    wanted: np.ndarray,
    logged: np.ndarray,
    columns: tuple[int, int],
    numbered: np.ndarray,
) -> tuple[Example, ...]:
    """Logged rows that are nearest to the middle of a region, in all columns."""
    spread, axes = logged.std(axis=0), [(c, table.axes[c]) for c in columns]
    apart = (logged - np.median(wanted, axis=0)) / np.where(spread == 0, 1, spread)
    rows = np.argsort(np.square(apart).sum(axis=1), kind="stable")[:EXAMPLES]
    return tuple(
        Example(
            row=int(numbered[row]),
            columns={a.name: a.told(float(logged[row, c])) for c, a in axes},
        )
        for row in rows
    )
