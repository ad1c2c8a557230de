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


def lengthening_average(old: T, new: T, share: float, updates: jax.Array) -> T:
    """The average of a path after one more point, over about the latest `share` of its points.

    After n points a new one weighs 1 / (1 + share n), so that point i weighs about as
    i^(1/share - 1) (polynomial-decay averaging, Shamir and Zhang, 2013). 0 takes the new point.
    """
    return polyak(old, new, 1 / (1 + share * updates.astype(jnp.float32)))


def concat(first: T, second: T) -> T:
    """Join every leaf along its first axis."""
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b]), first, second)
