"""Episodes that no training sees: policies are judged by them where there is no simulator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.errors import RunError
from countmorl.runs.options import Holdout

LEAST = 10
"""Finished episodes that a log must have for some to be set aside."""


class Parts(NamedTuple):
    """A log in two parts."""

    taught: Dataset
    """What models and policies are fitted on."""
    judged: Dataset | None
    """What none of them sees; None where nothing was set aside."""


def draw_holdout(dataset: Dataset, share: float, seed: int) -> Holdout | None:
    """Decide which episodes to set aside; None where the log is too short for it."""
    held = _drawn(dataset, share, seed)
    if not held.any():
        return None
    rows = int(_lengths(dataset)[held].sum())
    return Holdout(share=share, seed=seed, episodes=int(held.sum()), rows=rows)


def split(dataset: Dataset, holdout: Holdout | None) -> Parts:
    """Take apart what is set aside, which the log, the share and the seed decide alone."""
    if holdout is None:
        return Parts(dataset, None)
    held = held_episodes(dataset, holdout)
    return Parts(dataset.of_episodes(~held), dataset.of_episodes(held))


def held_episodes(dataset: Dataset, holdout: Holdout | None) -> np.ndarray:
    """Which episodes are set aside, a flag for each."""
    if holdout is None:
        return np.zeros(len(dataset.episode_ends), bool)
    held = _drawn(dataset, holdout.share, holdout.seed)
    if int(held.sum()) != holdout.episodes:
        raise RunError(
            f"{holdout.episodes:,} episodes of '{dataset.name}' were set aside, but now they would "
            f"be {int(held.sum()):,}. Were the data changed?"
        )
    return held


def holdout_sentence(dataset: Dataset, share: float, holdout: Holdout | None) -> str:
    """Say what is set aside, or what follows from nothing being so."""
    everything = len(dataset.episode_ends)
    if holdout is not None:
        return (
            f"set aside: {holdout.episodes:,} of {everything:,} episodes ({holdout.rows:,} rows), "
            "to judge the policy by"
        )
    why = "--holdout-episodes is 0"
    if share:
        finished = int(_finished(dataset).sum())
        why = f"the log has {finished} finished episodes and {LEAST} are wanted"
    return f"nothing is set aside ({why}): the policy can be judged only by rows that taught it"


def _drawn(dataset: Dataset, share: float, seed: int) -> np.ndarray:
    """Which episodes are set aside, [episodes]; whole ones, of the finished."""
    lengths = _lengths(dataset)
    held = np.zeros(len(lengths), bool)
    # A single long episode is what there is to learn from.
    able = np.flatnonzero(_finished(dataset) & (2 * lengths <= len(dataset)))
    if share > 0 and int(_finished(dataset).sum()) >= LEAST and len(able):
        count = max(1, round(share * len(lengths)))
        held[np.random.default_rng(seed).permutation(able)[:count]] = True
    return held


def _lengths(dataset: Dataset) -> np.ndarray:
    return np.diff(dataset.episode_ends, prepend=-1)


def _finished(dataset: Dataset) -> np.ndarray:
    """Which episodes are whole; the last alone may go on beyond the log."""
    ended = (dataset.terminated | dataset.truncated)[dataset.episode_ends]
    ended[:-1] = True
    return ended
