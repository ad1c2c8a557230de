"""`ActionSpace`: vectors within bounds, or numbers from 0 on. The one place that scales them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from countmorl.errors import ConfigError, DataError

MOST_ACTIONS = 256
"""Discrete actions there may be; each is a column of the model's inputs."""
SLACK = 1e-3
"""Share of the range by which an action may miss its bounds, as rounding does."""


def one_hot(numbers: np.ndarray, count: int) -> np.ndarray:
    """Numbers from 0 on as vectors of zeros with a single one."""
    return np.eye(count, dtype=np.float32)[np.asarray(numbers, np.int64)]


@dataclass(frozen=True, eq=False, kw_only=True)
class ActionSpace:
    """Bounds of an action's vector; a discrete action's vector is one-hot.

    Everything that learns sees vectors scaled to [-1, 1]; logs, simulators and users see actions.
    """

    low: np.ndarray
    high: np.ndarray
    discrete: bool = False

    @classmethod
    def of(cls, env: Any) -> ActionSpace:
        """The actions of a Gymnasium environment; others than these two kinds are refused."""
        from countmorl.extras import require  # Not at the top: `runtime.py` has no extras.

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

    @property
    def slack(self) -> np.ndarray:
        """How far beyond its bounds each number may lie and still count as on them."""
        return SLACK * (self.high - self.low)

    def outside(self, vectors: np.ndarray) -> np.ndarray:
        """Rows with a number farther outside its bounds than rounding explains."""
        slack = self.slack
        outside = (vectors < self.low - slack) | (vectors > self.high + slack)
        return np.asarray(outside.any(axis=-1))

    def scaled(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors mapped from their bounds to [-1, 1].

        What rounding has put just beyond a bound is put on it. What lies farther outside stays
        outside: a count of it must not find what was logged at the bound.
        """
        scaled = vectors
        if not self._is_scaled:
            scaled = (2 * (vectors - self.low) / (self.high - self.low) - 1).astype(np.float32)
        if not scaled.size or (-1 <= scaled.min() and scaled.max() <= 1):
            return scaled
        edge = 1 + 2.1 * SLACK
        return np.where(np.abs(scaled) <= edge, np.clip(scaled, -1, 1), scaled)

    def vectors(self, actions: np.ndarray) -> np.ndarray:
        """Actions as vectors scaled to [-1, 1]; discrete ones, [n] numbers, as one-hot ones."""
        actions = np.asarray(actions)
        if not self.discrete:
            return self.scaled(np.asarray(actions, np.float32))
        if actions.ndim == 2 and actions.shape[1] == self.size:
            return np.asarray(actions, np.float32)
        numbers = actions.reshape(-1)
        wrong = numbers[(numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= self.size)]
        if len(wrong):
            raise DataError(f"Actions must be numbers from 0 to {self.size - 1}, got {wrong[0]:g}.")
        return one_hot(numbers, self.size)

    def actions(self, vectors: np.ndarray) -> np.ndarray:
        """Actions as the environment takes them, from vectors in [-1, 1]."""
        if self.discrete:
            return vectors.argmax(axis=-1)
        middle, half = self._middle_and_half
        bounded = np.minimum(np.maximum(middle + half * vectors, self.low), self.high)
        return bounded.astype(np.float32)

    @cached_property
    def _is_scaled(self) -> bool:
        return bool((self.low == -1).all() and (self.high == 1).all())

    @cached_property
    def _middle_and_half(self) -> tuple[np.ndarray, np.ndarray]:
        return (self.high + self.low) / 2, (self.high - self.low) / 2
