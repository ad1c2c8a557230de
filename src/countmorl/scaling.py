"""`Standardizer`: the one place where a shift and a scale are learned and applied."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class Standardizer(eqx.Module):
    """(x - mean) / std per column, with a scale that is never zero; many may be stacked in one."""

    mean: Float[Array, "*stack columns"]
    std: Float[Array, "*stack columns"]

    @classmethod
    def fit(cls, values: Float[np.ndarray, "rows columns"], *, margin: float = 0.0) -> Standardizer:
        """Learn mean and std of the columns; `margin` is added to std. Constant columns keep 1."""
        mean = values.mean(axis=0, dtype=np.float64)
        std = values.std(axis=0, dtype=np.float64)
        std = np.where(std < 1e-12, 1.0, std + margin)
        return cls(jnp.asarray(mean, jnp.float32), jnp.asarray(std, jnp.float32))

    @classmethod
    def identity(cls, columns: int) -> Standardizer:
        """Change nothing."""
        return cls(jnp.zeros(columns), jnp.ones(columns))

    def __call__(self, x: Float[Any, "*batch columns"]) -> Float[Any, "*batch columns"]:
        """Shift and scale one row or any batch of rows; logs in NumPy stay in NumPy."""
        if isinstance(x, np.ndarray):
            return (x - np.asarray(self.mean)) / np.asarray(self.std)
        return (x - self.mean) / self.std

    def invert(self, x: Float[Array, "*batch columns"]) -> Float[Array, "*batch columns"]:
        """Undo `__call__`."""
        return x * self.std + self.mean
