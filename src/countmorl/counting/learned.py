"""Counts by learned codes: each elite's encoder and its table."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from countmorl.counting.base import AbstractCounter
from countmorl.counting.codes import Autoencoder
from countmorl.counting.table import CountTable, pack


class CodeCounter(AbstractCounter):
    """One code and one table an elite; how far they disagree is the counts' uncertainty."""

    autoencoders: Autoencoder
    tables: tuple[CountTable, ...]

    @property
    def bits(self) -> int:
        """Length of the codes (d)."""
        return self.autoencoders.encoder.biases[-1].shape[-1]

    def counts(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> Int[Array, "members batch"]:
        """Round, pack, look up."""
        words = pack(jax.vmap(Autoencoder.bits)(self.autoencoders, hidden))
        return jnp.stack([table.lookup(w) for table, w in zip(self.tables, words, strict=True)])

    def merge(self, other: "CodeCounter") -> "CodeCounter":
        """Add up the tables of two datasets that were coded by the same encoders."""
        tables = tuple(a.merge(b) for a, b in zip(self.tables, other.tables, strict=True))
        return CodeCounter(self.autoencoders, tables)
