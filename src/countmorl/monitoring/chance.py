"""How far a log moves by chance alone: training's and today's episodes, dealt out again.

Rows of an episode hang together, so whole episodes are dealt. If today's are of the training's
kind, nobody can tell which of all of them were called today's: any others would have moved as far.
So it is looked up how far others do, and the largest of all tests is what has to be exceeded:
however few episodes and however many columns there are, a log of the same kind raises an alarm as
seldom as was asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from countmorl.monitoring.tally import Edges, Tally

DRAWS = 2_000
"""Times that the episodes are dealt out."""
BLOCK = 200
"""Of those, how many are there at once."""
LEAST = 0.005
"""A spread is no smaller than this share of the rows: in logs however large, a share that moves by
less than some four times as much is no alarm."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class Pool:
    """Episodes of the training, to deal with."""

    tally: Tally
    aside: np.ndarray
    """Which of them nothing was fitted on."""
    fitted: np.ndarray
    """Columns that look better on rows that a training saw, [columns]."""
    rarer: np.ndarray
    """Columns of which only a fall is an alarm: counts, [columns]."""
    edges: Edges
    spread: float
    """Deviation of the rewards."""

    @property
    def length(self) -> float:
        """Rows of an episode, on average."""
        return float(self.tally.rows.mean())

    def parts(self, tally: Tally) -> tuple[np.ndarray, np.ndarray]:
        """What is compared, as sums and what they are divided by, [logs, tests] each.

        The rows up to each edge, of those whose value is known; the rewards, of all rows.
        """
        above = np.column_stack([tally.below, tally.reward / self.spread]).astype(np.float64)
        return above, np.column_stack([tally.known[:, self.edges.column], tally.rows])

    def shares(self, tally: Tally) -> np.ndarray:
        """What is compared, [logs, tests]: the share of rows up to each edge, the mean reward."""
        above, under = self.parts(tally)
        return above / np.maximum(1, under)

    @property
    def upward(self) -> np.ndarray:
        """Tests of which only a rise is an alarm: the shares of pairs that were logged rarely."""
        return np.append(self.rarer[self.edges.column], False)

    @cached_property
    def tested_aside(self) -> np.ndarray:
        """Tests whose reference are the episodes that no training saw, where there are any."""
        fitted = np.append(self.fitted[self.edges.column], False)
        return fitted & bool(self.aside.any())

    @cached_property
    def reference(self) -> np.ndarray:
        """What a log's shares are compared with, [tests]."""
        every = self.shares(self.tally.whole)[0]
        if not self.aside.any():
            return every
        aside = self.shares(self.tally.some(self.aside).whole)[0]
        return np.where(self.tested_aside, aside, every)

    def by_chance(self, today: Tally, *, seed: int = 0) -> Chance:
        """Hold today's episodes against the training's, and others of all in their place.

        Only episodes that nothing was fitted on change places with today's, where there are any.
        """
        open_ = self.aside if self.aside.any() else np.ones(len(self.tally), bool)
        dealt = np.concatenate(
            [_moments(self, self.tally.some(open_)), _moments(self, today)], axis=1
        )
        fixed = _moments(self, self.tally.some(~open_)).sum(axis=1)
        fixed[:, self.tested_aside] = 0
        known = int((~open_).sum()) * ~self.tested_aside  # Episodes that keep their places.
        count, size = dealt.shape[1], len(today)
        first = np.arange(count) >= count - size
        rng = np.random.default_rng(seed)
        blocks = [first[None], *(_deals(rng, count, size) for _ in range(DRAWS // BLOCK))]
        found, spread, same = [], np.zeros(0), []
        for chosen in blocks:
            moves, spreads = _moves(dealt, fixed, known, chosen, size)
            found.append(np.where(self.upward, moves, np.abs(moves)))
            spread = spreads[0] if not spread.size else spread
            same.append((chosen == first).all(axis=1))
        return Chance(
            moved=found[0][0],
            spread=spread,
            others=np.concatenate([each.max(axis=1) for each in found[1:]]),
            same=np.concatenate(same[1:]),
            deals=math.comb(count, size),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Chance:
    """How far today's log has moved, and how far others of the same episodes would have."""

    moved: np.ndarray
    """Today's, in units of the spread, [tests]; of some tests only rises count."""
    spread: np.ndarray
    """Of each test, as the training's episodes tell it, [tests]."""
    others: np.ndarray
    """The largest move of all tests, each time that episodes were dealt out, [deals]."""
    same: np.ndarray
    """Which of these had dealt out today's own, [deals]."""
    deals: int
    """How many different ones there are."""

    def limit(self, false_alarms: float) -> float:
        """What the largest move of all tests exceeds by chance so seldom.

        Of k deals, today's is the farthest once in k times by chance. Where that is too often, it
        must lie farther than all others by the factor that chance exceeds as seldom as is left,
        if the moves have a variance at all: of a tail of x^-2, the farthest lies c times as far as
        the second with the chance c^-2.
        """
        often = false_alarms * self.deals
        if often < 1:
            apart = self.others[~self.same]
            return float(apart.max(initial=0.0)) / math.sqrt(often)
        times = max(1, int(false_alarms * (len(self.others) + 1)))
        return float(np.sort(self.others)[-times]) * (1 + ROUNDING)


def _moments(pool: Pool, tally: Tally) -> np.ndarray:
    """Of each episode b, k, b b, b k and k k of its sums b / k, [5, episodes, tests]."""
    b, k = pool.parts(tally)
    return np.stack([b, k, b * b, b * k, k * k]).astype(np.float64)


def _deals(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    """Which episodes are called today's, a block of times; [times, episodes]."""
    ranks = rng.random((BLOCK, count)).argsort(axis=1).argsort(axis=1)
    return ranks < size


def _moves(
    dealt: np.ndarray, fixed: np.ndarray, known: np.ndarray, chosen: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """How far the chosen lie from all others, in spreads, and the spreads; [times, tests] each.

    With p = sum b / sum k of the others, an episode deviates by r = b - p k, and a mean of n by
    the deviation of r / mean k over sqrt(n): the one of so many chosen, the one of all others.
    """
    times = chosen.astype(np.float64)
    whole = dealt.sum(axis=1) + fixed
    own = np.stack([times @ each for each in dealt[:2]])
    b, k = (whole[i] - own[i] for i in (0, 1))
    bb, bk, kk = (whole[i] - times @ dealt[i] for i in (2, 3, 4))
    p = b / np.maximum(1, k)
    number = dealt.shape[1] - size + known
    square = np.maximum(0, bb - 2 * p * bk + p * p * kk) / np.maximum(1, number - 1)
    mean = np.maximum(1, k) / np.maximum(1, number)
    spread = np.sqrt(square / mean**2 * (1 / size + 1 / np.maximum(1, number)) + LEAST**2)
    return (own[0] / np.maximum(1, own[1]) - p) / spread, spread


def exceeding(inside: int, outside: int, beyond: int) -> float:
    """Chance that the `beyond` most extreme of all episodes are all of today's.

    `inside` are the training's episodes, `outside` today's: the product of (outside - i) /
    (inside + outside - i).
    """
    place = np.arange(beyond)
    return float(np.prod((outside - place) / (inside + outside - place)))
