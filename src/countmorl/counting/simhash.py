"""Static SimHash (Tang et al., 2017): the signs of random projections, nothing learned."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, UInt32

from countmorl import trees
from countmorl.counting.base import AbstractTableCounter, Counting
from countmorl.counting.table import CountTable, pack
from countmorl.errors import ConfigError
from countmorl.files import Arrays
from countmorl.types import Key

STREAM = 3
"""Number folded into the seed for the projections."""


class SimHashCounter(AbstractTableCounter):
    """code = sign(x A) with a fixed Gaussian A [inputs, bits], one A per member."""

    projections: Float[Array, "members inputs bits"]
    tables: tuple[CountTable, ...]

    @classmethod
    def fit(cls, job: Counting) -> "SimHashCounter":
        """Draw the projections, one per elite, and count the rows."""
        bits = job.config.bits
        if bits == "auto":
            raise ConfigError("simhash needs a code length; give --codes.bits (16 to 64).")
        key = jr.fold_in(jr.key(job.seed), STREAM)
        return cls.of(job.rows.x, bits, len(job.ensemble.elites), key=key)

    @classmethod
    def of(
        cls, x: Float[Array, "rows inputs"], bits: int, members: int, *, key: Key
    ) -> "SimHashCounter":
        """Draw the projections and count rows of standardised pairs."""
        projections = jr.normal(key, (members, x.shape[1], bits))
        words = [np.asarray(pack(x @ projection > 0)) for projection in projections]
        return cls(projections=projections, tables=tuple(CountTable.of(w) for w in words))

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "SimHashCounter":
        """Bring back a counter that was saved."""
        saved = trees.nest(arrays)
        tables = tuple(map(CountTable.from_arrays, saved["tables"]))
        return cls(projections=saved["projections"], tables=tables)

    def words(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> UInt32[Array, "members batch words"]:
        """Project and pack."""
        return pack(jnp.einsum("bi,mid->mbd", x, self.projections) > 0)
