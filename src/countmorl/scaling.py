"""`Standardizer`: the one place where a shift and a scale are learned and applied."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

ROUNDING = 1e-7
"""A column that varies by no more than this share of its size varies by rounding alone."""
TYPICAL = 3.0
"""Root mean square of the rewards that learners see. It is that of the locomotion tasks on which
the field has tuned its constants: rates, weights of terms, the first entropy weight."""


class Standardizer(eqx.Module):
    """(x - mean) / std per column; many may be stacked in one.

    Whatever unit a column has, it comes out the same: bit for bit where the units differ by a power
    of two.
    """

    mean: Float[Array, "*stack columns"]
    std: Float[Array, "*stack columns"]

    @classmethod
    def fit(cls, values: Float[np.ndarray, "rows columns"], *, exact: bool = False) -> Standardizer:
        """Learn mean and std of the columns.

        A constant column is divided by its own size, so that a change of it is seen for what it
        is. With `exact` its std is 0: `invert` then gives the constant, whatever it is handed.
        """
        mean = values.mean(axis=0, dtype=np.float64)
        std = values.std(axis=0, dtype=np.float64)
        still = 0.0 if exact else np.where(mean == 0, 1.0, np.abs(mean))
        std = np.where(std <= ROUNDING * np.abs(mean), still, std)
        return cls(jnp.asarray(mean, jnp.float32), jnp.asarray(std, jnp.float32))

    @classmethod
    def identity(cls, columns: int) -> Standardizer:
        """Change nothing."""
        return cls(jnp.zeros(columns), jnp.ones(columns))

    def __call__(self, x: Float[Any, "*batch columns"]) -> Float[Any, "*batch columns"]:
        """Shift and scale one row or any batch of rows; logs in NumPy stay in NumPy."""
        if isinstance(x, np.ndarray):
            std = np.asarray(self.std)
            return (x - np.asarray(self.mean)) / np.where(std == 0, np.float32(1), std)
        return (x - self.mean) / jnp.where(self.std == 0, 1.0, self.std)

    def invert(self, x: Float[Array, "*batch columns"]) -> Float[Array, "*batch columns"]:
        """Undo `__call__`."""
        return x * self.std + self.mean


def reward_unit(rewards: Float[np.ndarray, " rows"]) -> float:
    """What rewards are divided by so that no unit matters: their root mean square is then 3.

    They are not shifted: where a task can end, the sum of a shift depends on when it does.
    """
    size = float(np.sqrt(np.mean(np.square(rewards, dtype=np.float64))))
    return size / TYPICAL if size > 0 else 1.0
