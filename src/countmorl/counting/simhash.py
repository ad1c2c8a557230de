"""Static SimHash (Tang et al., 2017): the signs of random projections, nothing learned."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int

from countmorl.counting.base import AbstractCounter
from countmorl.counting.table import CountTable, pack
from countmorl.types import Key


class SimHashCounter(AbstractCounter):
    """code = sign(x A) with a fixed Gaussian A [inputs, bits], one A a member."""

    projections: Float[Array, "members inputs bits"]
    tables: tuple[CountTable, ...]

    @classmethod
    def fit(
        cls, x: Float[Array, "rows inputs"], bits: int, members: int, *, key: Key
    ) -> "SimHashCounter":
        """Draw the projections and count the rows."""
        projections = jr.normal(key, (members, x.shape[1], bits))
        words = [np.asarray(pack(x @ projection > 0)) for projection in projections]
        return cls(projections, tuple(CountTable.of(w) for w in words))

    def counts(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> Int[Array, "members batch"]:
        """Project, pack, look up."""
        words = pack(jnp.einsum("bi,mid->mbd", x, self.projections) > 0)
        return jnp.stack([table.lookup(w) for table, w in zip(self.tables, words, strict=True)])
