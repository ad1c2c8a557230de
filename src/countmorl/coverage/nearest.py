"""The nearest logged row of any pair, and the column in which the two differ most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.scaling import Standardizer

ROWS, BLOCK = 20_000, 500
"""Logged rows that neighbours are looked for among, and pairs whose distances are there at once."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Beside:
    """Pairs beside their nearest logged rows, [pairs]."""

    row: np.ndarray
    """The number of the nearest row in the dataset."""
    column: np.ndarray
    """The column that differs most, in deviations."""
    side: np.ndarray
    """1 where it is above the row's, -1 below, 0 where it is a discrete action."""
    value: np.ndarray
    logged: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Nearest:
    """Logged pairs, in deviations; observation and action weigh alike, as in judging."""

    dataset: Dataset
    rows: np.ndarray
    """The rows that are looked among."""
    scale: Standardizer
    weight: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset, *, seed: int = 0) -> Nearest:
        """Keep some rows of a log; their columns are those of the table, the past included."""
        total = len(dataset)
        rows = np.arange(total)
        if total > ROWS:
            rows = np.sort(np.random.default_rng(seed).choice(total, ROWS, replace=False))
        sizes = dataset.obs_dim, dataset.action_dim
        weight = np.concatenate([np.full(n, n**-0.5, np.float32) for n in sizes])
        pairs = np.concatenate([dataset.obs, dataset.action], axis=1)
        return cls(dataset=dataset, rows=rows, scale=Standardizer.fit(pairs), weight=weight)

    def __call__(self, obs: np.ndarray, action: np.ndarray) -> Beside:
        """Look up pairs; actions as the log's columns have them, discrete ones one-hot."""
        pairs = np.concatenate([obs, action], axis=1).astype(np.float32)
        row = self.rows[self._places(self.scale(pairs) * self.weight)]
        logged = np.concatenate([self.dataset.obs[row], self.dataset.action[row]], axis=1)
        apart = (pairs - logged) / np.asarray(self.scale.std)
        size = self.dataset.obs_dim
        if self.dataset.discrete:  # Another action is farther than any observation.
            other = action.argmax(axis=1) != self.dataset.action[row].argmax(axis=1)
            apart = np.where(
                np.arange(apart.shape[1]) >= size,
                np.where(other[:, None], np.inf, 0.0) * np.where(pairs > logged, 1, 0.5),
                apart,
            )
            apart = np.nan_to_num(apart, nan=0.0, posinf=1e30)
        each = np.arange(len(pairs))
        column = np.abs(apart).argmax(axis=1)
        side = np.sign(apart[each, column]).astype(int)
        if self.dataset.discrete:
            side[column >= size] = 0
        return Beside(
            row=row,
            column=column,
            side=side,
            value=pairs[each, column],
            logged=logged[each, column],
        )

    def name(self, column: int, obs: np.ndarray, action: np.ndarray) -> str:
        """A column's name; of a discrete action, the action's."""
        size = self.dataset.obs_dim
        if column < size:
            return self.dataset.obs_names[column]
        return self.dataset.action_names[column - size]

    def _places(self, x: np.ndarray) -> np.ndarray:
        dataset = self.dataset
        pairs = np.concatenate([dataset.obs[self.rows], dataset.action[self.rows]], axis=1)
        known = self.scale(pairs) * self.weight
        norms = np.square(known).sum(axis=1)
        found = [
            (norms - 2 * (x[at : at + BLOCK] @ known.T)).argmin(axis=1)
            for at in range(0, len(x), BLOCK)
        ]
        return np.concatenate(found) if found else np.zeros(0, int)
