"""`ActionSpace`: the actions of an environment, vectors within bounds or numbers 0 to K - 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from countmorl.errors import ConfigError
from countmorl.extras import require

MOST_ACTIONS = 256
"""Discrete actions there may be; each is a column of the model's inputs."""


def one_hot(numbers: np.ndarray, count: int) -> np.ndarray:
    """Numbers from 0 on as vectors of zeros with a single one."""
    return np.eye(count, dtype=np.float32)[np.asarray(numbers, np.int64)]


@dataclass(frozen=True, eq=False, kw_only=True)
class ActionSpace:
    """Bounds of an action's vector; a discrete action's vector is one-hot."""

    low: np.ndarray
    high: np.ndarray
    discrete: bool = False

    @classmethod
    def of(cls, env: Any) -> ActionSpace:
        """The actions of a Gymnasium environment; others than these two kinds are refused."""
        spaces, space = require("gymnasium").spaces, env.action_space
        if isinstance(space, spaces.Box) and len(space.shape) == 1:
            return cls(low=space.low, high=space.high)
        numbered = isinstance(space, spaces.Discrete) and space.start == 0
        if numbered and 1 < space.n <= MOST_ACTIONS:
            return cls.numbered(int(space.n))
        raise ConfigError(
            f"'{env.spec.id}' has actions {space}; wanted a vector of numbers, or Discrete with "
            f"2 to {MOST_ACTIONS} actions counted from 0."
        )

    @classmethod
    def numbered(cls, count: int) -> ActionSpace:
        """`count` discrete actions; their one-hot vectors need no scaling."""
        ones = np.ones(count, np.float32)
        return cls(low=-ones, high=ones, discrete=True)

    @property
    def size(self) -> int:
        """Numbers in an action's vector."""
        return len(self.low)

    @property
    def bounded(self) -> bool:
        """Whether actions can be drawn evenly."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    @property
    def fields(self) -> dict[str, np.ndarray]:
        """What a dataset's file says of its actions."""
        if self.discrete:
            return {"action_count": np.array(self.size)}
        return {"action_low": self.low, "action_high": self.high}

    def empty(self, rows: int) -> np.ndarray:
        """Room for that many actions, as the environment takes them."""
        if self.discrete:
            return np.empty(rows, np.int64)
        return np.empty((rows, self.size), np.float32)

    def draw(self, rng: np.random.Generator) -> Any:
        """An action at random, as the environment takes it."""
        if self.discrete:
            return int(rng.integers(self.size))
        return rng.uniform(self.low, self.high).astype(np.float32)

    def vectors(self, actions: np.ndarray) -> np.ndarray:
        """Actions as vectors scaled to [-1, 1]; discrete ones as one-hot vectors."""
        if self.discrete:
            return one_hot(actions, self.size)
        return (2 * (actions - self.low) / (self.high - self.low) - 1).astype(np.float32)

    def actions(self, vectors: np.ndarray) -> np.ndarray:
        """Actions as the environment takes them, from their vectors."""
        if self.discrete:
            return vectors.argmax(axis=-1)
        return np.clip(
            self.low + (vectors + 1) / 2 * (self.high - self.low), self.low, self.high
        ).astype(np.float32)
