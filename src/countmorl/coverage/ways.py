"""Ways out: which column takes a policy to pairs that were never logged, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.coverage.imagined import Imagined
from countmorl.coverage.nearest import Nearest

MOST = 10
"""Ways that are told."""


@dataclass(frozen=True, kw_only=True)
class WayOut:
    """One way out: a column, and the side to which it leaves."""

    column: str
    side: str
    """above or below what was logged nearby; elsewhere, for a discrete action."""
    rollouts: int
    share: float
    """Of all rollouts."""
    step: int
    """The step, typically; 1 is the first."""
    value: float
    """The column's value there, typically."""
    logged: float
    """Its value in the nearest logged row, typically."""

    @property
    def text(self) -> str:
        """The way in words."""
        if self.side == "elsewhere":
            return f"{self.column} not tried there"
        return (
            f"{self.column} {self.side} what was logged nearby ({self.value:.3g}, nearest logged "
            f"{self.logged:.3g})"
        )

    def as_dict(self) -> dict[str, object]:
        """Return JSON-able values."""
        return {**self.__dict__, "text": self.text}


def ways_out(imagined: Imagined, nearest: Nearest) -> list[WayOut]:
    """The most frequent ways out of the log, by the column that is farthest when a rollout leaves.

    A rollout leaves at its first unseen pair. The nearest logged row is looked for in scaled
    columns; the column that differs most from it, in deviations, is the one that took it there.
    """
    gone, step = imagined.left
    if not len(gone):
        return []
    obs, action = imagined.obs[step, gone], imagined.action[step, gone]
    found = nearest(obs, action)
    total = imagined.alive.shape[1]
    ways = []
    for column, side in sorted(set(zip(found.column.tolist(), found.side.tolist(), strict=True))):
        here = (found.column == column) & (found.side == side)
        ways.append(
            WayOut(
                column=nearest.name(column, obs[here], action[here]),
                side={1: "above", -1: "below", 0: "elsewhere"}[side],
                rollouts=int(here.sum()),
                share=float(here.sum() / total),
                step=int(np.median(step[here])) + 1,
                value=float(np.median(found.value[here])),
                logged=float(np.median(found.logged[here])),
            )
        )
    return sorted(ways, key=lambda way: -way.rollouts)[:MOST]
