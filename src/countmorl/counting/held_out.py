"""Do counts notice whole episodes that are unlike the rest? Those are held out and counted anew.

Held-out single rows lie inside the data: the rows before and after them were counted. Here the
tenth of the episodes with the highest returns, or the last tenth, is taken out of the tables, all
of it at once, so that its episodes do not vouch for each other. That is exact and costs no fit:
what is left of a pair's count is the table's, less how often its code occurs among the rows taken
out.

The model and the encoders have seen these rows; to leave them out would take a second fit of both.
So nothing is said of the model's error there, which would be a training error, and codes are a
little better fitted to these pairs than to truly new ones. Ordinary episodes, about as many rows of
them, are taken out in the same way: the comparison with them is fair.
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

from countmorl import trees
from countmorl.counting.base import AbstractCounter
from countmorl.counting.estimate import unlike
from countmorl.counting.table import CountTable
from countmorl.data.dataset import Dataset
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleConfig, split_order
from countmorl.runs.calibration import Farness, HeldOut

LEAST = 10
"""Finished episodes below which there is no tenth of them."""
APART = 0.7
"""How often a pair of the farthest episodes must cost more than one of ordinary episodes for them
to lie apart."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Episodes:
    """Which episode each counted row is of, and what the episodes returned."""

    of_row: Int[np.ndarray, " rows"]
    """The number of its episode among the finished ones; -1 for a row of the unfinished one."""
    returns: Float[np.ndarray, " episodes"]

    @classmethod
    def of(cls, dataset: Dataset, config: EnsembleConfig, seed: int) -> Episodes:
        """The episodes of the rows that a dataset's model is fitted on, in the model's order."""
        learnable = np.flatnonzero(dataset.learnable)
        rest, _ = split_order(len(learnable), config, seed)
        finished = dataset.finished
        number = np.where(finished, np.cumsum(finished) - 1, -1)
        place = np.searchsorted(dataset.episode_ends, learnable[rest])
        return cls(of_row=number[place], returns=dataset.returns)

    @property
    def farthest(self) -> dict[Farness, np.ndarray]:
        """The tenth with the highest returns, where returns differ, and the last tenth."""
        tenth = len(self.returns) // 10
        last: dict[Farness, np.ndarray] = {"time": np.arange(len(self.returns))[-tenth:]}
        if self.returns.min() == self.returns.max():
            return last
        return {"return": np.argsort(self.returns, kind="stable")[-tenth:], **last}

    def ordinary(self, far: Int[np.ndarray, " episodes"]) -> Int[np.ndarray, " others"]:
        """Others by chance, until they have as many rows; half of the others at the most.

        A longer episode leaves less behind when it is taken out, whatever is in it.
        """
        others = np.setdiff1d(np.arange(len(self.returns)), far)
        drawn = np.random.default_rng(0).permutation(others)[: -(-len(others) // 2)]
        rows = np.bincount(self.of_row[self.of_row >= 0], minlength=len(self.returns))
        enough = np.searchsorted(np.cumsum(rows[drawn]), rows[far].sum())
        return drawn[: enough + 1]

    def rows(self, episodes: Int[np.ndarray, " episodes"]) -> Int[np.ndarray, " rows"]:
        """The counted rows of some episodes."""
        return np.flatnonzero(np.isin(self.of_row, episodes))


def held_out(
    ensemble: Ensemble,
    counter: AbstractCounter,
    x: Float[Array, "rows inputs"],
    episodes: Episodes,
) -> tuple[HeldOut, ...]:
    """Compare the farthest tenth of the episodes with ordinary ones; `x` are the counted rows.

    Nothing where there are fewer than ten finished episodes, or no codes.
    """
    if len(episodes.returns) < LEAST:
        return ()
    groups: list[tuple[Farness, np.ndarray, np.ndarray]] = [
        (by, far, episodes.ordinary(far)) for by, far in episodes.farthest.items()
    ]
    # All groups in one program, and no other rows: the codes of all data would take long.
    every = np.unique(np.concatenate([each for _, *pair in groups for each in pair]))
    rows = episodes.rows(every)
    counts, words = _counted(ensemble, counter, x[rows])
    if words is None:
        return ()
    counts, words = np.asarray(counts), np.asarray(words)

    def left(group: Int[np.ndarray, " episodes"]) -> Int[np.ndarray, "members rows"]:
        own = np.searchsorted(rows, episodes.rows(group))
        return without(counts[:, own], words[:, own])

    return tuple(
        _compared(by, len(far), left(far), left(ordinary))
        for by, far, ordinary in groups
        if len(episodes.rows(far)) and len(episodes.rows(ordinary))
    )


def without(
    counts: Int[np.ndarray, "members rows"], words: UInt32[np.ndarray, "members rows words"]
) -> Int[np.ndarray, "members rows"]:
    """What is left of the rows' counts when the tables lose these rows."""
    own = [np.asarray(CountTable.of(each).lookup(jnp.asarray(each))) for each in words]
    # A code that is not verified counts 0, whoever shares it.
    return np.maximum(0, counts - np.stack(own))


@eqx.filter_jit
def _counted(
    ensemble: Ensemble, counter: AbstractCounter, x: Float[Array, "rows inputs"]
) -> tuple[Int[Array, "members rows"], UInt32[Array, "members rows words"] | None]:
    def one(rows: Array, _: Array) -> tuple[Array, Array | None]:
        hidden = ensemble.trunks(rows)
        return counter.counts(rows, hidden), counter.words(rows, hidden)

    return trees.in_blocks(one, x, axis=1)


def _compared(
    by: Farness,
    episodes: int,
    far: Int[np.ndarray, "members rows"],
    ordinary: Int[np.ndarray, "members others"],
) -> HeldOut:
    unseen = [float((counts == 0).all(axis=0).mean()) for counts in (far, ordinary)]
    medians = [float(np.median(counts.mean(axis=0))) for counts in (far, ordinary)]
    return HeldOut(
        by=by,
        episodes=episodes,
        rows=far.shape[1],
        median_count=medians[0],
        unseen=unseen[0],
        ordinary_count=medians[1],
        ordinary_unseen=unseen[1],
        told_apart=unlike(far, ordinary),
    )


def coverage(found: tuple[HeldOut, ...], episodes: Episodes) -> str:
    """Say in a sentence what the farthest episodes tell a practitioner to do."""
    count = len(episodes.returns)
    if count < LEAST:
        return (
            f"The log has {count} finished episode{'s' if count != 1 else ''}, too few to hold "
            f"whole ones out ({LEAST} are needed), so nothing is known of pairs unlike the rest."
        )
    if not found:
        return "Whole episodes were not held out: there are no codes of their pairs."
    return f"Held out whole, {'; '.join(map(_said, found))}."


WHICH = {
    "return": "the tenth of the episodes with the highest returns",
    "time": "the last tenth of the episodes",
}
COVERED = {
    "return": "counts leave a policy free to do as it did",
    "time": "counts see no drift",
}
LIES_APART = {
    "return": "the penalty keeps a policy from doing as it did: log more such episodes",
    "time": "ask what has changed before a policy is trusted with what comes next",
}


def _said(found: HeldOut) -> str:
    apart = found.told_apart >= APART
    return (
        f"{WHICH[found.by]} {'lies apart from' if apart else 'is covered by'} the rest "
        f"({100 * found.unseen:.0f} % of its pairs unseen, {100 * found.ordinary_unseen:.0f} % of "
        f"ordinary episodes'; told apart in {100 * found.told_apart:.0f} % of cases), so "
        f"{(LIES_APART if apart else COVERED)[found.by]}"
    )
