"""How likely logged actions were: as the log says, or else as a clone of it estimates.

Weights are quotients of chances, multiplied step by step, so a clone's chances are held against
rows that it has not seen, E[1{A = a}] = E[b(a | s)] in every part of them, before they are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from countmorl.data.dataset import Dataset
from countmorl.evaluation.clone import chances
from countmorl.runtime.policy import Policy

RARE = 1e-3
"""An action that was logged is taken to have been at least so likely, where that is estimated."""
TIMES = 1.5
"""How many times as often as foretold, or as seldom, actions may be taken in a part of the rows."""
LUCK = 1e-3
"""How often chances that are right may be refused by bad luck."""
PARTS = 10
APART = 3.0
"""How many times logged chances may be those of a clone, or they of them, at half of the rows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Propensities:
    """Chances of the logged actions, and where they come from."""

    values: np.ndarray
    """At each row."""
    made_by: str
    """In a few words, behind "weighted by"."""
    facts: Mapping[str, float] = field(default_factory=dict)
    why: str = ""
    """Why nothing can be weighted by them, a sentence; nothing where they can be used."""
    notes: tuple[str, ...] = ()


def propensities(rows: Dataset, clone: Policy, fault: str) -> Propensities:
    """Logged chances where there are, else those of a clone, refused where it has a fault."""
    taken = _of_taken(clone, rows)
    if rows.propensity is None:
        facts = {"logged_propensities": 0.0}
        made_by = "the chances that a clone of the log gives its actions"
        return Propensities(values=taken, made_by=made_by, facts=facts, why=fault)
    logged = rows.propensity.astype(np.float64)
    apart = float(np.exp(np.median(np.abs(np.log(logged / taken)))))
    notes = ()
    if apart > APART:
        notes = (
            f"at half of the rows the logged propensities are {apart:.1f} times those of a clone "
            "of the log or more, or as much less: are they of the actions that were taken, and do "
            "observations hold all that decided them?",
        )
    return Propensities(
        values=logged,
        made_by="logged propensities",
        facts={"logged_propensities": 1.0, "clone_apart": apart},
        notes=notes,
    )


def _of_taken(clone: Policy, rows: Dataset) -> np.ndarray:
    return np.maximum((chances(clone, rows.obs) * rows.action).sum(axis=1), RARE)


def fault_of(clone: Policy, unseen: Dataset) -> str:
    """Where a clone's chances do not hold on rows that it has not seen, a sentence; or nothing.

    Every action is counted in parts of the rows: on both sides of each observed number's median,
    and in tenths by the clone's own chance of it.
    """
    return miscounted(chances(clone, unseen.obs), unseen)


def miscounted(foretold: np.ndarray, unseen: Dataset) -> str:
    """The same of chances [n, actions]: the part that is the least likely by them."""
    done, found = unseen.action > 0, list(_parts(foretold, unseen))
    level, worst = LUCK / max(1, len(found)), ""
    for action, rows, said in found:
        taken = int(done[rows, action].sum())
        expected = float(foretold[rows, action].sum())
        least = RARE * len(rows)
        times = max(taken, least) / max(expected, least)
        # A count of rare events; of frequent ones it varies less, so this refuses too seldom.
        luck = min(stats.poisson.sf(taken - 1, expected), stats.poisson.cdf(taken, expected))
        if luck < level and not 1 / TIMES <= times <= TIMES:
            level = luck
            worst = (
                f"{said}, '{unseen.action_names[action]}' was taken in {taken / len(rows):.0%} of "
                f"{len(rows):,} rows that a clone of the log has not seen, and it says "
                f"{expected / len(rows):.0%}: how likely logged actions were cannot be told."
            )
    return worst


def _parts(foretold: np.ndarray, unseen: Dataset) -> Iterator[tuple[int, np.ndarray, str]]:
    """An action, rows in which it is counted, and what they are called."""
    actions = range(foretold.shape[1])
    for name, column in zip(unseen.obs_names, unseen.obs.T, strict=True):
        middle = np.median(column)
        above = column > middle if (column > middle).any() else column >= middle
        for rows, side in ((np.flatnonzero(above), "high"), (np.flatnonzero(~above), "low")):
            if len(rows):
                yield from ((action, rows, f"where {name} is {side}") for action in actions)
    for action in actions:
        own = foretold[:, action]
        # Rows of one chance, as those of one state, stay together.
        part = np.searchsorted(np.quantile(own, np.arange(1, PARTS) / PARTS), own, side="right")
        for each in np.unique(part):
            rows = np.flatnonzero(part == each)
            low, high = own[rows].min(), own[rows].max()
            yield action, rows, f"where its chance should be {low:.3g} to {high:.3g}"
