"""A log as evaluators see it: where it starts, what followed, which steps belong together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.rates import blocks
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.behaviour import FEW

STARTS = 200
"""Starts of one stream, whose every row is one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Logged:
    """Rows to judge by. Of a log without episodes, blocks of rows stand for them."""

    dataset: Dataset
    seed: int = 0

    @cached_property
    def streams(self) -> bool:
        """Whether the log is taken for one stream."""
        return len(self.dataset.episode_ends) < FEW

    @cached_property
    def ends(self) -> np.ndarray:
        """The last row of each group of rows that are drawn together."""
        return blocks(len(self.dataset)) if self.streams else self.dataset.episode_ends

    @cached_property
    def starts(self) -> np.ndarray:
        """Rows that values are taken at: firsts of episodes; of a stream, any."""
        if not self.streams:
            return np.append(0, self.dataset.episode_ends[:-1] + 1)
        rows, rng = len(self.dataset), np.random.default_rng(self.seed)
        return np.sort(rng.choice(rows, min(STARTS, rows), replace=False))

    def group(self, rows: np.ndarray) -> np.ndarray:
        """Which group rows belong to."""
        return np.searchsorted(self.ends, rows)

    @cached_property
    def actions(self) -> np.ndarray:
        """What was done, in [-1, 1]."""
        return self.dataset.space.scaled(self.dataset.action)

    def next_actions(self, clone: Actor) -> np.ndarray:
        """What was done next; where no row tells, what a clone would do."""
        dataset = self.dataset
        following = np.roll(self.actions, -1, axis=0)
        last = np.zeros(len(dataset), bool)
        last[dataset.episode_ends] = True
        unknown = last & ~dataset.terminated & dataset.next_known
        following[unknown] = clone(dataset.next_obs[unknown])
        return following
