"""`TabularMDP`: a finite Markov decision process, checked once when made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from countmorl.envs.gridworld import World
from countmorl.errors import ConfigError

Matrix = np.ndarray | sparse.csr_array
"""Dense for small worlds, sparse for large ones; the code that uses it does not care."""

DENSE_ENTRIES = 2_000_000
"""A matrix with more entries than this is kept sparse (16 MB of float64)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TabularMDP:
    """M = (S, A, P, r, d0, gamma) of the paper's Section 3.1, in float64.

    An episode ends in a terminal state, which is written as a state that leads only to itself and
    pays nothing. Value, visitation and planning then need no special case.
    """

    transition: Matrix
    """P(s' | s, a), [states * actions, states]; the row of (s, a) is s * actions + a."""
    reward: np.ndarray
    """r(s, a), [states, actions]."""
    start: np.ndarray
    """d0, [states]."""
    gamma: float
    terminal: np.ndarray
    """States in which the episode is over, [states]."""

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        pairs = self.states * self.actions
        if self.transition.shape != (pairs, self.states):
            raise ConfigError(
                f"`transition` has shape {self.transition.shape}, wanted "
                f"({pairs}, {self.states}): a row for each of {self.states} states x "
                f"{self.actions} actions, a column for each next state."
            )
        sums = np.asarray(self.transition.sum(axis=1)).ravel()
        if self.transition.min() < -1e-12 or not np.allclose(sums, 1, atol=1e-9):
            raise ConfigError("Every row of `transition` must be a probability distribution.")
        if not np.isfinite(self.reward).all():
            raise ConfigError("`reward` holds numbers that are not finite.")
        if self.start.shape != (self.states,) or not np.isclose(self.start.sum(), 1):
            raise ConfigError(f"`start` must be a distribution over {self.states} states.")

    @property
    def states(self) -> int:
        """Number of states."""
        return self.reward.shape[0]

    @property
    def actions(self) -> int:
        """Number of actions."""
        return self.reward.shape[1]

    @classmethod
    def of_world(cls, world: World, *, slip: float = 0.0, gamma: float = 0.95) -> TabularMDP:
        """Return the exact MDP of a grid world."""
        return cls(
            transition=world.transition(slip).reshape(-1, world.states),
            reward=world.reward(slip),
            start=np.eye(world.states)[world.start],
            gamma=gamma,
            terminal=world.terminal,
        )


def dense(matrix: Matrix) -> np.ndarray:
    """Return a matrix as a plain array."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def check_gamma(gamma: float) -> None:
    """Raise where a discount factor is out of range."""
    if not 0 <= gamma < 1:
        raise ConfigError(f"`gamma` must be at least 0 and below 1, got {gamma:g}.")
