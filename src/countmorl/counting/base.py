"""The seam of counting: anything that counts state-action pairs for a set of members."""

from abc import abstractmethod

import equinox as eqx
from jaxtyping import Array, Float, Int


class AbstractCounter(eqx.Module):
    """Counts of pairs, one row a member (or a single row where there is one opinion)."""

    @abstractmethod
    def counts(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> Int[Array, "members batch"]:
        """Count pairs, given as standardised inputs and as the elites' hidden layers."""
