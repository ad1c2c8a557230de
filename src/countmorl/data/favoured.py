"""Which rows are drawn more often: those of episodes that went better than their starts promised.

Where a log holds several behaviours, drawing all rows alike teaches their mixture, which may be
worse than the best of them and is often worse than their mean. Episodes are weighed by their
advantage as in Hong et al. ("Harnessing mixed offline RL datasets via trajectory weighting", ICLR
2023): what an episode earned less what its first observation tells of that, so that a lucky start
is no merit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from countmorl.data.dataset import Dataset, RowKind
from countmorl.scaling import Standardizer

LEAST = 10
"""Episodes below which none is told to be better than another."""
LEAST_SHARE = 0.1
"""Share of the rows that a draw has to be worth: a few lucky episodes are not a log."""
RIDGE = 1.0
"""Episodes for each column of an observation that speak against what it seems to tell."""


class Favoured(NamedTuple):
    """Episodes to draw from first, and then a row of the one drawn."""

    chances: np.ndarray
    """Sums of the chances of each episode, up to 1."""
    first: np.ndarray
    """Its first row."""
    length: np.ndarray


def favoured(dataset: Dataset, favour: float, rows: RowKind) -> Favoured | None:
    """Episodes of `transitions(rows)` by their advantage; None where all rows are drawn alike.

    A row's chance goes by exp(favour a), a being its episode's advantage in units of its range or,
    where that is less, of what an episode usually earns: where all went about equally well, all
    count about the same. The exponent is halved until enough rows still count.
    """
    if favour == 0 or len(dataset.episode_ends) < LEAST:
        return None
    kept = np.cumsum(dataset.kept(rows))[dataset.episode_ends]
    length = np.diff(kept, prepend=0)
    some = length > 0
    advantage, length, first = advantages(dataset)[some], length[some], (kept - length)[some]
    size = max(float(np.ptp(advantage)), float(np.abs(earnings(dataset)).mean()))
    if np.ptp(advantage) <= 0:
        return None
    better = (advantage - advantage.max()) / size
    while effective_share(np.exp(favour * better), length) < LEAST_SHARE:
        favour /= 2
    sums = np.cumsum(np.exp(favour * better) * length)
    chances = (sums / sums[-1]).astype(np.float32)
    return Favoured(chances, first.astype(np.int32), length.astype(np.int32))


def effective_share(weight: np.ndarray, length: np.ndarray) -> float:
    """The share of all rows that would tell as much if they were drawn alike (Kish)."""
    return float(np.dot(weight, length) ** 2 / (np.dot(weight**2, length) * length.sum()))


def advantages(dataset: Dataset) -> np.ndarray:
    """What each episode earned, less what its first observation tells of it."""
    ends = dataset.episode_ends
    earned = earnings(dataset)
    firsts = dataset.obs[np.concatenate([[0], ends[:-1] + 1])]
    x = np.asarray(Standardizer.fit(firsts)(firsts), np.float64)
    # Few episodes and many columns: chance would explain them.
    shrink = RIDGE * x.shape[1] * np.eye(x.shape[1])
    return earned - x @ np.linalg.solve(x.T @ x + shrink, x.T @ (earned - earned.mean()))


def earnings(dataset: Dataset) -> np.ndarray:
    """The sum of each episode's rewards; one that was cut goes on at its own rate to the longest.

    Otherwise an episode would be worse for being recorded briefly.
    """
    ends = dataset.episode_ends
    lengths = np.diff(ends, prepend=-1)
    sums = np.diff(np.cumsum(dataset.reward, dtype=np.float64)[ends], prepend=0.0)
    missing = np.where(dataset.terminated[ends], 0, lengths.max() - lengths)
    return sums * (1 + missing / lengths)
