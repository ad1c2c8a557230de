"""How often pairs were logged, told by distance: what no network can be wrong about.

A pair counts every logged row that reaches it. A row reaches some times as far as its own nearest
neighbour of another episode lies: where the log is dense, near is nearer. Rows in thin places reach
over dense ones, so that a pair counts nothing where its nearest row lies too far by that row's own
measure. How many times is what rows that were set aside need to be seen nearly always: it is the
log that says what near means, and no row reaches farther than they need to find any neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.rates import blocks
from countmorl.scaling import Standardizer

ROWS = 20_000
"""Logged rows that neighbours are looked for among."""
PROBES = 2_000
"""Rows that the radius is learned from."""
LEVEL = 0.999
"""Share of the log's own rows that are to have a neighbour."""
THIN = 5
"""A pair with fewer neighbours than this is thin."""
LEAST = 1e-3
"""How far every row reaches: rounding must not tell equal pairs apart."""
BLOCK = 500
"""Pairs whose distances are there at once."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs:
    """Pairs as distances are measured between them."""

    place: np.ndarray
    """Scaled numbers, [pairs, columns]."""
    kind: np.ndarray
    """The number of a discrete action, which has no distance to others; else 0. [pairs]"""

    def squares(self, rows: Pairs) -> np.ndarray:
        """Squared distances, [pairs, rows]; infinite between two discrete actions."""
        norms, ones = np.square(self.place).sum(axis=1), np.ones(len(self), np.float32)
        apart = np.column_stack([self.place, norms, ones]) @ rows._faced
        np.maximum(apart, 0, out=apart)
        if self.kind.any() or rows.kind.any():
            apart[self.kind[:, None] != rows.kind] = np.inf
        return apart

    @cached_property
    def _faced(self) -> np.ndarray:
        """What turns |x - y|^2 = |x|^2 - 2 x y + |y|^2 into one product, [columns + 2, pairs]."""
        norms, ones = np.square(self.place).sum(axis=1), np.ones(len(self), np.float32)
        return np.ascontiguousarray(np.column_stack([-2 * self.place, ones, norms]).T)

    def some(self, rows: slice | np.ndarray) -> Pairs:
        """Some of the pairs."""
        return Pairs(place=self.place[rows], kind=self.kind[rows])

    def __len__(self) -> int:
        return len(self.place)


@dataclass(frozen=True, eq=False, kw_only=True)
class Scale:
    """How pairs are scaled: deviations, a pair's observation weighing as much as its action."""

    obs: Standardizer
    action: Standardizer | None
    """None where actions are discrete."""

    def __call__(self, obs: np.ndarray, action: np.ndarray) -> Pairs:
        """Scale pairs; actions come in [-1, 1], or one-hot."""
        place, kind = self.obs(obs) * obs.shape[1] ** -0.5, np.zeros(len(obs), int)
        if self.action is None:
            kind = action.argmax(axis=1)
        else:
            moved = self.action(action) * action.shape[1] ** -0.5
            place = np.concatenate([place, moved], axis=1)
        return Pairs(place=place.astype(np.float32), kind=kind)


@dataclass(frozen=True, eq=False, kw_only=True)
class Support:
    """Logged pairs, and how far each of them reaches."""

    rows: Pairs
    reach: np.ndarray
    """How far a row is counted, [rows]."""
    limit: np.ndarray
    """How far a pair's nearest row may lie, [rows]."""
    scale: Scale

    @classmethod
    def of(cls, taught: Dataset, judged: Dataset | None, *, seed: int = 0) -> Support:
        """Learn how far rows reach: from rows that were set aside, or else across episodes."""
        rng = np.random.default_rng(seed)
        vectors = taught.space.scaled(taught.action)
        scale = Scale(
            obs=Standardizer.fit(taught.obs),
            action=None if taught.discrete else Standardizer.fit(vectors),
        )
        kept = _some(rng, len(taught), ROWS)
        rows = scale(taught.obs[kept], vectors[kept])
        # Of a single stream, blocks stand for episodes.
        whole = len(taught.episode_ends) > 1
        group = np.searchsorted(taught.episode_ends if whole else blocks(len(taught)), kept)
        own = np.maximum(_nearness(rows, rows, np.ones(len(rows)), group, group)[0], LEAST)
        own = np.where(np.isfinite(own), own, LEAST)
        if judged is None:
            probed = rng.permutation(len(kept))[:PROBES]
            groups = (group, group[probed])
            probes = rows.some(probed)
        else:
            probed = _some(rng, len(judged), PROBES)
            probes = scale(judged.obs[probed], judged.space.scaled(judged.action)[probed])
            groups = (None, None)
        far, reached, near = (_level(each) for each in _nearness(probes, rows, own, *groups))
        reach, limit = (
            (np.minimum(times * own, far) * 1.001 + LEAST).astype(np.float32)
            for times in (reached, near)
        )
        return cls(rows=rows, reach=reach, limit=limit, scale=scale)

    def counts(self, obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        """How many of the logged rows that are kept lie within the radius of each pair."""
        return self.look(obs, action)[0]

    def look(self, obs: np.ndarray, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Counts of pairs, and how far from the log they lie: beyond 1 where they count nothing."""
        pairs = self.scale(obs, action)
        found = [
            self._look(pairs.some(slice(at, at + BLOCK))) for at in range(0, len(pairs), BLOCK)
        ]
        counts, far = zip(*found, strict=True) if found else ((np.zeros(0, int),), (np.zeros(0),))
        return np.concatenate(counts), np.concatenate(far)

    def _look(self, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
        apart = pairs.squares(self.rows)
        nearest = apart.argmin(axis=1)
        far = np.sqrt(apart[np.arange(len(apart)), nearest]) / self.limit[nearest]
        counts = np.where(far <= 1, (apart <= np.square(self.reach)).sum(axis=1), 0)
        # Rows that reach no pair tell by how much they fail to.
        out = counts == 0
        short = np.sqrt((apart[out] / np.square(self.reach)).min(axis=1, initial=np.inf))
        far[out] = np.maximum(far[out], short)
        return counts, far


def _some(rng: np.random.Generator, rows: int, most: int) -> np.ndarray:
    return np.arange(rows) if rows <= most else np.sort(rng.choice(rows, most, replace=False))


def _level(values: np.ndarray) -> float:
    """What nearly all of the values lie within; those without a neighbour at all say nothing."""
    values = values[np.isfinite(values)]
    return float(np.quantile(values, LEVEL)) if len(values) else 0.0


def _nearness(
    probes: Pairs,
    rows: Pairs,
    own: np.ndarray,
    group: np.ndarray | None = None,
    group_of: np.ndarray | None = None,
) -> np.ndarray:
    """How near probes are to rows of other groups, [3, probes].

    The distance to the nearest row; the least distance in multiples of each row's `own`; and that
    of the nearest row in multiples of its own.
    """
    found = []
    for at in range(0, len(probes), BLOCK):
        apart = probes.some(slice(at, at + BLOCK)).squares(rows)
        if group_of is not None:
            apart[group_of[at : at + BLOCK, None] == group] = np.inf
        nearest = apart.argmin(axis=1)
        least = np.sqrt(apart[np.arange(len(apart)), nearest])
        times = np.sqrt((apart / np.square(own)).min(axis=1))
        found.append(np.stack([least, times, least / own[nearest]]))
    return np.concatenate(found, axis=1)
