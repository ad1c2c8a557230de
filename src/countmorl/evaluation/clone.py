"""A quick clone of whoever logged the data: what an estimate of the log itself is checked by."""

from __future__ import annotations

from countmorl.agents import clone
from countmorl.data.dataset import Dataset
from countmorl.runtime.policy import Policy


def cloned(dataset: Dataset, *, updates: int, seed: int) -> Policy:
    """Imitate the logged actions for a while."""
    return clone.cloned(dataset, updates=updates, seed=seed).policy(dataset.space, {})
