"""`TabularData`: a log of a finite world as exact counts, which are all the theory needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from countmorl.data.dataset import Dataset
from countmorl.errors import DataError
from countmorl.tabular.mdp import DENSE_ENTRIES, Matrix

MOST_STATES = 2**24
"""Datasets are float32, which holds whole numbers exactly up to here."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TabularData:
    """Counts n(s, a, s') and what else a log tells about a finite world.

    A state in which the episode ended is terminal. Where episodes sometimes ended on arriving in a
    state and sometimes went on, the end gets a state of its own (a twin, numbered after the given
    states), so that every state is either terminal or not.
    """

    outcomes: Matrix
    """n(s, a, s'), [states * actions, states]."""
    reward_sum: np.ndarray
    """Sum of the rewards of each pair, [states, actions]."""
    reward_range: tuple[float, float]
    """Least and greatest reward in the log."""
    start: np.ndarray
    """Share of the episodes that began in each state, [states]."""
    terminal: np.ndarray
    """States in which an episode has ended, [states]."""
    given_states: int
    """Number of states without the twins."""

    @property
    def states(self) -> int:
        """Number of states, twins included."""
        return self.reward_sum.shape[0]

    @property
    def actions(self) -> int:
        """Number of actions."""
        return self.reward_sum.shape[1]

    @property
    def counts(self) -> np.ndarray:
        """n(s, a), [states, actions]."""
        return np.asarray(self.outcomes.sum(axis=1)).reshape(self.states, self.actions)

    @property
    def behaviour(self) -> np.ndarray:
        """The policy that logged: pi(a | s) = n(s, a) / n(s), uniform where s has no action."""
        counts = self.counts
        total = counts.sum(axis=1, keepdims=True)
        return np.where(total > 0, counts / np.maximum(total, 1), 1 / self.actions)

    @classmethod
    def of_rows(
        cls,
        state: np.ndarray,
        action: np.ndarray,
        reward: np.ndarray,
        next_state: np.ndarray,
        terminated: np.ndarray,
        *,
        first: np.ndarray,
        states: int | None = None,
        actions: int | None = None,
    ) -> TabularData:
        """Count rows of whole numbers; `first` holds the state in which each episode began."""
        given = states or int(max(state.max(), next_state.max())) + 1
        _check_within("states", given, state, next_state)
        actions = actions or int(action.max()) + 1
        _check_within("actions", actions, action)
        arrived, size, terminal = _twins(state, next_state, terminated, first, given)
        pair = state * actions + action
        shape = (size * actions, size)
        ones = np.ones(len(pair))
        outcomes: Matrix = sparse.coo_array((ones, (pair, arrived)), shape=shape).tocsr()
        if shape[0] * shape[1] <= DENSE_ENTRIES:
            outcomes = outcomes.toarray()
        paid = np.bincount(pair, reward.astype(np.float64), minlength=shape[0])
        return cls(
            outcomes=outcomes,
            reward_sum=paid.reshape(size, actions),
            reward_range=(float(reward.min()), float(reward.max())),
            start=np.bincount(first, minlength=size) / len(first),
            terminal=terminal,
            given_states=given,
        )

    @classmethod
    def of(
        cls, dataset: Dataset, *, states: int | None = None, actions: int | None = None
    ) -> TabularData:
        """Count a dataset of whole numbers, one column of states and one of actions."""
        rows = dataset.next_known | dataset.terminated
        if not rows.any():
            raise DataError(f"'{dataset.name}' has no row whose next observation is known.")
        begins = np.append(0, dataset.episode_ends[:-1] + 1)
        state = _whole(dataset, "observations", dataset.obs)
        return cls.of_rows(
            state[rows],
            _whole(dataset, "actions", dataset.stored["action"].reshape(len(dataset), -1))[rows],
            dataset.reward[rows],
            _whole(dataset, "next observations", dataset.next_obs)[rows],
            dataset.terminated[rows],
            first=state[begins],
            states=states,
            actions=actions or (dataset.action_dim if dataset.discrete else None),
        )


def _twins(
    state: np.ndarray, arrived: np.ndarray, terminated: np.ndarray, first: np.ndarray, given: int
) -> tuple[np.ndarray, int, np.ndarray]:
    """Return next states with their twins, the number of states, and which are terminal."""
    ended, live = np.zeros(given, bool), np.zeros(given, bool)
    ended[arrived[terminated]] = True
    for alive in (state, first, arrived[~terminated]):
        live[alive] = True
    torn = np.flatnonzero(ended & live)
    twin = np.arange(given)
    twin[torn] = given + np.arange(len(torn))
    terminal = np.append(ended & ~live, np.ones(len(torn), bool))
    return np.where(terminated, twin[arrived], arrived), given + len(torn), terminal


def _whole(dataset: Dataset, what: str, values: np.ndarray) -> np.ndarray:
    """Read one column as whole numbers from 0 on, or say why that cannot be."""
    remedy = "Number them 0, 1, 2, ... first, or use an algorithm for continuous data."
    if values.shape[1] != 1:
        raise DataError(
            f"The tabular algorithm wants one whole number per row, but the {what} of "
            f"'{dataset.name}' have {values.shape[1]} columns. {remedy}"
        )
    column = values[:, 0]
    wrong = np.flatnonzero(column != np.round(column))
    if len(wrong):
        raise DataError(
            f"The {what} of '{dataset.name}' are continuous (row {wrong[0]:,} holds "
            f"{column[wrong[0]]:g}); the tabular algorithm wants whole numbers. {remedy}"
        )
    if column.min() < 0 or column.max() >= MOST_STATES:
        raise DataError(
            f"The {what} of '{dataset.name}' run from {column.min():g} to {column.max():g}; wanted "
            f"whole numbers from 0 to {MOST_STATES - 1:,}. {remedy}"
        )
    return column.astype(np.int64)


def _check_within(what: str, number: int, *columns: np.ndarray) -> None:
    highest = max(int(column.max()) for column in columns)
    if highest >= number:
        raise DataError(
            f"The log holds the number {highest}, but there are only {number} {what} "
            f"(0 to {number - 1}). Give a larger number of {what}."
        )
