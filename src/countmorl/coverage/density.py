"""How dense a log is: distinct pairs or codes, rows of each, and what whole episodes find in it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.holdout import draw_holdout, split
from countmorl.evaluation.support import THIN as FEW_NEIGHBOURS
from countmorl.evaluation.support import Support
from countmorl.runtime.counts import Counts
from countmorl.runtime.levels import LEVELS, Counted, CountsPairs
from countmorl.runtime.neighbours import Neighbours

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
REPEATS = 2.0
"""Rows of a distinct pair, on average, from which on a log is taken for one of a finite world."""
RARE = 0.1
"""Share of the log's own pairs that are rare."""
SHARE, SAMPLE = 0.1, 2_000
"""Share of the episodes that are held against the others, and how many of their rows."""


@dataclass(frozen=True, kw_only=True)
class Density:
    """What counts say of a log."""

    rows: int
    counted_by: str
    """codes, neighbours (distances to logged rows), or pairs (equal ones)."""
    places: int
    """Codes of a member, the middle of them; distinct pairs; or the rows themselves."""
    rows_per_place: float
    once: float
    """Share of the codes, or pairs, that a single row has."""
    probed: int
    """Rows that the following is of: of episodes that were not counted, where there are enough."""
    held_out: bool
    """Whether they are of such episodes."""
    quantiles: dict[str, float]
    """Of their counts."""
    shares: dict[str, float]
    """Of them that are unseen, thin and covered."""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return asdict(self)


def neighbours_of(taught: Dataset, judged: Dataset | None, *, seed: int = 0) -> Neighbours:
    """Learn from a log how far its rows reach, as `countmorl judge` does; for NumPy alone."""
    support = Support.of(taught, judged, seed=seed)
    scale, empty = support.scale, np.zeros(0, np.float32)
    action = scale.action
    return Neighbours(
        place=support.rows.place,
        kind=support.rows.kind,
        reach=support.reach,
        limit=support.limit,
        obs_mean=np.asarray(scale.obs.mean),
        obs_std=np.asarray(scale.obs.std),
        action_mean=empty if action is None else np.asarray(action.mean),
        action_std=empty if action is None else np.asarray(action.std),
        space=taught.space,
        thin=float(FEW_NEIGHBOURS),
    )


def density_of_codes(taught: Dataset, judged: Dataset | None, counts: Counts) -> Density:
    """How dense the rows are that a run has counted."""
    sizes = [table.counts for table in counts.tables.each]
    middle = sorted(sizes, key=len)[len(sizes) // 2]
    probed = taught if judged is None else judged
    found = _probe(counts, probed)
    return _density(taught, "codes", middle, found, held_out=judged is not None)


def density_of_data(dataset: Dataset, *, seed: int = 0) -> tuple[Density, Neighbours | None]:
    """How dense a log is: by equal pairs where they repeat, else by distances."""
    pairs = np.concatenate([dataset.obs, dataset.action], axis=1)
    _, counts = np.unique(pairs, axis=0, return_counts=True)
    if len(dataset) >= REPEATS * len(counts):
        count = np.repeat(counts, counts).astype(np.float64)
        level = np.array(LEVELS)[np.where(count < FEW_NEIGHBOURS, 1, 2)]
        found = Counted(members=count[None], count=count, level=level)
        return _density(dataset, "pairs", counts, found, held_out=False), None
    taught, judged = split(dataset, draw_holdout(dataset, SHARE, seed))
    near = neighbours_of(taught, judged, seed=seed)
    found = _probe(near, taught if judged is None else judged)
    ones = np.ones(len(taught), int)
    return _density(dataset, "neighbours", ones, found, held_out=judged is not None), near


def least_of(dataset: Dataset, counts: CountsPairs) -> float:
    """The count that a tenth of the log's own pairs lie below: what is rarer is rare."""
    return float(np.quantile(_probe(counts, dataset).count, RARE))


def _probe(counts: CountsPairs, dataset: Dataset) -> Counted:
    chosen = np.random.default_rng(0).permutation(len(dataset))[:SAMPLE]
    return counts.counts(dataset.obs[chosen], dataset.action[chosen])


def _density(
    dataset: Dataset, by: str, places: np.ndarray, found: Counted, *, held_out: bool
) -> Density:
    return Density(
        rows=len(dataset),
        counted_by=by,
        places=len(places),
        rows_per_place=float(places.mean()),
        once=float((places == 1).mean()),
        probed=len(found.count),
        held_out=held_out,
        quantiles={f"{int(100 * q)}%": float(np.quantile(found.count, q)) for q in QUANTILES},
        shares={level: float((found.level == level).mean()) for level in LEVELS},
    )
