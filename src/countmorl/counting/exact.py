"""Exact counts of pairs, for data whose observations and actions repeat."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from countmorl import trees
from countmorl.counting.base import AbstractTableCounter, Counting
from countmorl.counting.table import CountTable
from countmorl.files import Arrays

LEAST, MOST = 2.0**-20, 2.0**-12


class ExactCounter(AbstractTableCounter):
    """Two pairs are the same if every number is; a code holds the place of each among its column's.

    Numbers are compared with some slack, a quarter of the least gap between two of a column:
    the same pair is standardised in differently compiled programs, whose last bits differ.
    """

    tables: tuple[CountTable, ...]
    values: Float[Array, "inputs distinct"]
    """Distinct numbers of each column, in order, filled up with infinities."""
    slack: Float[Array, " inputs"]

    @classmethod
    def fit(cls, job: Counting) -> "ExactCounter":
        """Count the rows as they are; nothing is learned."""
        return cls.of(job.rows.x)

    @classmethod
    def of(cls, x: Float[Array, "rows inputs"]) -> "ExactCounter":
        """Count rows of standardised pairs."""
        columns = [np.unique(column) for column in np.asarray(x).T]
        values = np.full((len(columns), max(map(len, columns))), np.inf, np.float32)
        for row, column in zip(values, columns, strict=True):
            row[: len(column)] = column
        gaps = [np.diff(column).min() if len(column) > 1 else 1.0 for column in columns]
        slack = np.clip(np.array(gaps, np.float32) / 4, LEAST, MOST)
        parts = jnp.asarray(values), jnp.asarray(slack)
        table = CountTable.of(np.asarray(_places(*parts, x)))
        return cls((table,), *parts)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "ExactCounter":
        """Bring back a counter that was saved."""
        saved = trees.nest(arrays)
        tables = tuple(map(CountTable.from_arrays, saved["tables"]))
        return cls(tables, saved["values"], saved["slack"])

    def words(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> UInt32[Array, "members batch words"]:
        """The places of a pair's numbers; there is one opinion."""
        return _places(self.values, self.slack, x)[None]


@jax.jit
def _places(values: Array, slack: Array, x: Float[Array, "batch inputs"]) -> UInt32[Array, "..."]:
    """The place of each number among its column's; a number that is not there gets none."""

    def column(known: Array, slack: Array, numbers: Array) -> Array:
        above = jnp.clip(jnp.searchsorted(known, numbers), 1, len(known) - 1)
        nearer = jnp.where(numbers - known[above - 1] < known[above] - numbers, above - 1, above)
        there = jnp.abs(known[nearer] - numbers) <= slack
        return jnp.where(there, nearer, len(known)).astype(jnp.uint32)

    if values.shape[1] == 1:
        values = jnp.pad(values, ((0, 0), (0, 1)), constant_values=jnp.inf)
    return jax.vmap(column, (0, 0, 1), 1)(values, slack, x)
