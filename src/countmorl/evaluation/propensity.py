"""How likely logged actions were: as the log says, or else as a clone of it estimates.

Weights are quotients of chances, multiplied step by step. So a clone's chances are held against
what was done, E[1{A = a}] = E[b(a | s)] in every part of the log, before they are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from countmorl.data.dataset import Dataset
from countmorl.runtime.policy import Policy

RARE = 1e-3
"""An action that was logged is taken to have been at least so likely, where that is estimated."""
TIMES = 1.5
"""How many times as often as foretold, or as seldom, actions may be taken in a part of the rows."""
CHANGED = 1.2
"""The same of a half of the log, whose episodes err in one direction at every step."""
LUCK = 1e-3
"""How often chances that are right may be refused by bad luck."""
PARTS = 10
Part = tuple[int, np.ndarray, str]
"""An action, rows in which it is counted, and what they are called."""
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
    return np.maximum((clone.chances(rows.obs) * rows.action).sum(axis=1), RARE)


def fault_of(clone: Policy, unseen: Dataset, whole: Dataset) -> str:
    """Why a clone's chances of the logged actions cannot be used, a sentence; or nothing.

    `unseen` are rows of the log that have not taught it.
    """
    of = lambda data: clone.chances(data.obs)  # noqa: E731
    return miscounted(of(unseen), unseen) or changed(of(whole), whole)


def changed(foretold: np.ndarray, whole: Dataset) -> str:
    """Whether who logged has changed on the way, by chances [n, actions] that know no time.

    Products of mean chances are then not those of any episode.
    """
    first, second = np.split(np.arange(len(whole)), [len(whole) // 2])
    halves = {"first": first, "second": second}
    parts = [(a, rows, side) for side, rows in halves.items() for a in range(whole.action_dim)]
    # What is wrong in both halves alike is no change.
    usual = whole.action.mean(axis=0) / np.maximum(foretold.mean(axis=0), 1e-12)
    found = _worst(foretold * usual, whole, parts, CHANGED)
    if found is None:
        return ""
    action, half, taken, expected, rows = found
    return (
        f"in the {half} half of the log '{action}' was taken in {taken:.0%} of {rows:,} rows, and "
        f"by what was done in all of it in {expected:.0%}: whoever acted has changed on the way, "
        "and how likely each action was can only be logged."
    )


def miscounted(foretold: np.ndarray, unseen: Dataset) -> str:
    """Where chances [n, actions] do not hold on rows that have not taught them.

    Every action is counted on both sides of each observed number's median, and in tenths of the
    rows by its own chance.
    """
    found = _worst(foretold, unseen, list(_parts(foretold, unseen)), TIMES)
    if found is None:
        return ""
    action, where, taken, expected, rows = found
    return (
        f"{where}, '{action}' was taken in {taken:.0%} of {rows:,} rows that a clone of the log "
        f"has not seen, and it says {expected:.0%}: how likely logged actions were cannot be told."
    )


def _worst(
    foretold: np.ndarray, data: Dataset, parts: list[Part], times: float
) -> tuple[str, str, float, float, int] | None:
    """The part that is the least likely by the chances: what was taken, where, how often, how
    often by them, and of how many rows. None where luck explains all, or nothing is far off."""
    done, level, found = data.action > 0, LUCK / max(1, len(parts)), None
    for action, rows, said in parts:
        taken, count = int(done[rows, action].sum()), len(rows)
        expected = float(foretold[rows, action].sum())
        ratio = max(taken, RARE * count) / max(expected, RARE * count)
        # A count of rare events; of frequent ones it varies less, so this refuses too seldom.
        luck = min(stats.poisson.sf(taken - 1, expected), stats.poisson.cdf(taken, expected))
        if luck < level and not 1 / times <= ratio <= times:
            level = luck
            found = data.action_names[action], said, taken / count, expected / count, count
    return found


def _parts(foretold: np.ndarray, unseen: Dataset) -> Iterator[Part]:
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
