"""Which columns vary within an episode, and which only tell episodes apart."""

import numpy as np
from jaxtyping import Float, Int


def varying_within(
    obs: Float[np.ndarray, "rows obs"], episode_ends: Int[np.ndarray, " episodes"]
) -> Float[np.ndarray, " obs"]:
    """How much of each column's variance lies within episodes, to the column with the most of it.

    0 where a column stays the same until the episode ends, such as a weight or an age; 1 for all
    columns where every episode has but one row, or where none varies.
    """
    begins = np.concatenate([[0], episode_ends[:-1] + 1])
    lengths = np.diff(np.append(begins, len(obs)))
    shares = np.array([_within(column, begins, lengths) for column in obs.T])
    most = shares.max(initial=0.0)
    return shares / most if most > 0 else np.ones(len(shares))


def _within(column: np.ndarray, begins: np.ndarray, lengths: np.ndarray) -> float:
    values = column.astype(np.float64)
    values -= values.mean()
    whole = float(values @ values)
    between = float((np.square(np.add.reduceat(values, begins)) / lengths).sum())
    # Rounding alone leaves a little of a column that never changes.
    return 1 - between / whole if whole > 0 and whole - between > 1e-9 * whole else 0.0
