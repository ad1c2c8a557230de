"""Pairs that share a code: which they are, and which of them are miscounted for it."""

from __future__ import annotations

import numpy as np

Collisions = tuple[tuple[int, ...], ...]
"""Groups of pairs, by number; the pairs of one group share one code."""


def find_collisions(words: np.ndarray) -> Collisions:
    """Group the pairs whose packed codes, [pairs, words], are the same."""
    _, group = np.unique(words, axis=0, return_inverse=True)
    order = np.argsort(group, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(group))[:-1])
    return tuple(sorted(tuple(map(int, members)) for members in groups if len(members) > 1))


def spoils(collisions: Collisions, counts: np.ndarray) -> Collisions:
    """Keep the groups with a logged pair: pairs that were never logged may share a code."""
    return tuple(group for group in collisions if counts[list(group)].any())


def codes_needed(counts: np.ndarray) -> int:
    """Codes that exact counts need: one for each logged pair, one for all others together."""
    logged = int((counts > 0).sum())
    return logged + int(logged < len(counts))
