"""How far a log moves by chance alone: episodes of the training, drawn again many times.

Rows of an episode hang together, so whole episodes are drawn: as many as today's log has rows for
are taken for today, and as many as the training has for the training. Every share is compared in
units of its own spread, and the largest of all comparisons is what has to be exceeded: however many
columns there are, a log of the same kind raises an alarm as seldom as was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from countmorl.monitoring.tally import Edges, Tally

DRAWS = 2_000
"""Logs that are drawn."""
BLOCK = 200
"""Of those, how many are there at once."""
FOLDS = 5
"""Parts that the episodes are cut into, each of them left out once."""
LEAST = 0.005
"""A spread is no smaller than this share of the rows: in logs however large, a share that moves by
less than some four times as much is no alarm."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pool:
    """Episodes of the training, to draw from."""

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

    def shares(self, tally: Tally) -> np.ndarray:
        """What is compared, [logs, tests]: the share of rows up to each edge, the mean reward."""
        known = np.maximum(1, tally.known)[:, self.edges.column]
        mean = tally.reward / np.maximum(1, tally.rows) / self.spread
        return np.concatenate([tally.below / known, mean[:, None]], axis=1)

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

    def by_chance(self, today: int, *, seed: int = 0) -> Chance:
        """Draw logs of so many episodes, and what each is compared with.

        How far logs move is told by episodes that the spread was not learned from: among few
        episodes, one that lies far from all others would else excuse itself.
        """
        rng, count = np.random.default_rng(seed), len(self.tally)
        whole = self._moves(rng, today, np.ones(count, bool))
        spread = self._spread(whole, count)
        fold, found = rng.permutation(count) % min(FOLDS, count), []
        for each in range(min(FOLDS, count)):
            out = fold == each
            rest = ~out if count > 1 else out
            own = self._spread(self._moves(rng, today, rest), int(rest.sum()))
            # The part that is left out lies somewhere itself, which a new log's episodes do not.
            apart, kept = (np.maximum(1, self._sizes(part)) for part in (out, rest))
            fair = (1 / today + 1 / kept) / (1 / today + 1 / apart + 1 / kept)
            found.append(self._moves(rng, today, out, rest) / own * np.sqrt(fair))
        parts = (whole / spread, np.concatenate(found))
        return Chance(
            spread=spread,
            moves=parts[1],
            within=parts[0],
            upward=self.upward,
            episodes=self._sizes(np.ones(count, bool)),
            columns=len(self.fitted) + 1,
        )

    def _spread(self, moves: np.ndarray, episodes: int) -> np.ndarray:
        """Deviations of what was drawn; from so few, it varies too little, as where n divides."""
        few = episodes / max(1, episodes - 1)
        return np.sqrt(few * np.square(moves).mean(axis=0) + LEAST**2)

    def _moves(
        self,
        rng: np.random.Generator,
        today: int,
        chosen: np.ndarray,
        rest: np.ndarray | None = None,
    ) -> np.ndarray:
        """Logs drawn of the chosen episodes against as many as there are of the rest."""
        rest = chosen if rest is None else rest
        found = []
        for _ in range(DRAWS // BLOCK // min(FOLDS, len(self.tally))):
            sizes = int(rest.sum()), int((rest & self.aside).sum())
            against = self._drawn(rng, sizes, rest)
            found.append(self._drawn(rng, (today, today), chosen) - against)
        return np.concatenate(found)

    def _sizes(self, part: np.ndarray) -> np.ndarray:
        """Episodes of a part that each test draws from, [tests]."""
        return np.where(self.tested_aside, int((part & self.aside).sum()), int(part.sum()))

    def _drawn(
        self, rng: np.random.Generator, sizes: tuple[int, int], chosen: np.ndarray
    ) -> np.ndarray:
        """Shares of logs drawn of some episodes; fitted columns of those that were set aside."""
        shares = self._of(rng, sizes[0], chosen)
        aside = chosen & self.aside
        if self.tested_aside.any() and aside.any():
            shares = np.where(self.tested_aside, self._of(rng, max(1, sizes[1]), aside), shares)
        return shares

    def _of(self, rng: np.random.Generator, episodes: int, chosen: np.ndarray) -> np.ndarray:
        chances = chosen / chosen.sum()
        times = rng.multinomial(episodes, chances, size=BLOCK).astype(np.float64)
        parts = {name: times @ value for name, value in self.tally.arrays.items()}
        return self.shares(Tally(**parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class Chance:
    """How shares of a log of one size move by chance."""

    spread: np.ndarray
    """Of each test, [tests]."""
    moves: np.ndarray
    """Of the logs that were drawn, in units of the spread, [logs, tests]."""

    within: np.ndarray
    """The same of logs of the very episodes that the spread was learned from."""
    upward: np.ndarray
    """Tests of which only a rise is an alarm, [tests]."""
    episodes: np.ndarray
    """Episodes of the training that each test knows its spread from, [tests]."""
    columns: int
    """Columns that are tested, the reward among them."""

    @cached_property
    def largest(self) -> tuple[np.ndarray, ...]:
        """The largest move of all tests, of both kinds of logs, [logs] each."""
        both = (self.moves, self.within)
        return tuple(np.where(self.upward, e, np.abs(e)).max(axis=1) for e in both)

    def limit(self, false_alarms: float) -> float:
        """What the largest move of all tests exceeds by chance so seldom, in both kinds of logs."""
        level = 1 - false_alarms
        return max(float(np.quantile(each, level, method="higher")) for each in self.largest)

    def known_spread(self, false_alarms: float) -> np.ndarray:
        """The spread of each test as a log that nobody knows is held against it, [tests].

        Episodes that are drawn again and again do not tell how unusual they are themselves.
        """
        return self.spread * widened(self.episodes, false_alarms / (2 * self.columns))


def widened(episodes: np.ndarray, chance: float) -> np.ndarray:
    """How much wider a spread is that comes from so few episodes: Student's over the normal's."""
    return stats.t.isf(chance, np.maximum(2, episodes - 1)) / stats.norm.isf(chance)


def exceeding(inside: int, outside: int, beyond: int) -> float:
    """Chance that the `beyond` most extreme of all episodes are all of today's.

    `inside` are the training's episodes, `outside` today's: the product of (outside - i) /
    (inside + outside - i).
    """
    place = np.arange(beyond)
    return float(np.prod((outside - place) / (inside + outside - place)))
