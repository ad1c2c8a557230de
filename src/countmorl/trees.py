"""Operations on whole pytrees of arrays."""

from typing import TypeVar

import jax
import jax.numpy as jnp

T = TypeVar("T")


def take(tree: T, rows: jax.Array) -> T:
    """Pick the same rows of every leaf."""
    return jax.tree.map(lambda leaf: leaf[rows], tree)


def mean(tree: T) -> T:
    """Average every leaf over its first axis."""
    return jax.tree.map(lambda leaf: jnp.mean(leaf, axis=0), tree)


def polyak(old: T, new: T, share: float | jax.Array) -> T:
    """Move every leaf of `old` by `share` towards `new`: (1 - share) old + share new."""
    return jax.tree.map(lambda a, b: a + share * (b - a), old, new)


def concat(first: T, second: T) -> T:
    """Join every leaf along its first axis."""
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b]), first, second)
