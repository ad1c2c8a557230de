"""`CountTable`: exact counts of binary codes, looked up inside compiled code.

A code of d bits is packed into 32-bit words. The table holds each distinct code once, ordered by a
hash of its words; `starts` says where each bucket of hashes begins. A query looks at every entry of
its one bucket and compares whole codes, so counts are exact and an unseen code counts 0.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Integer, Num, UInt32

from countmorl.runtime.tables import ODD, WORD, Table, hash_words

MAX_BITS = WORD * len(ODD)


class CountTable(eqx.Module):
    """Distinct codes, how often each was seen, and an index over them."""

    words: UInt32[Array, "codes words"]
    counts: Int[Array, " codes"]
    starts: Int[Array, " edges"]
    """Where each bucket begins; the last entry is where the last one ends."""
    probes: int = eqx.field(static=True)
    """Entries of the fullest bucket: what a query looks at, at the most."""

    @classmethod
    def of(
        cls,
        words: Integer[np.ndarray, "rows words"],
        weights: Num[np.ndarray, " rows"] | None = None,
    ) -> CountTable:
        """Count packed codes [rows, words]; with `weights`, each row stands for so many."""
        return cls._of(Table.of(words, weights))

    @classmethod
    def _of(cls, table: Table) -> CountTable:
        probes = int(np.diff(table.starts).max(initial=0))
        words, counts, starts = map(jnp.asarray, (table.words, table.counts, table.starts))
        return cls(words, counts, starts, probes)

    @classmethod
    def from_arrays(cls, saved: dict[str, Array]) -> CountTable:
        """Bring a table back from its three arrays; a table that leads astray is an error."""
        starts, counts = np.asarray(saved["starts"]), np.asarray(saved["counts"])
        sizes = np.diff(starts)
        sound = starts.ndim == counts.ndim == 1 and len(starts) > 2 and starts[0] == 0
        sound = sound and len(starts) - 1 == 1 << (len(starts) - 2).bit_length()
        if not sound or starts[-1] != len(counts) != 0 or (sizes < 0).any() or (counts < 0).any():
            raise ValueError("its table of counts is not one")
        probes = int(sizes.max(initial=0))
        return cls(saved["words"], saved["counts"], saved["starts"], probes)

    def merge(self, other: CountTable) -> CountTable:
        """Add the counts of two tables: the table of both datasets together."""
        words = np.concatenate([np.asarray(self.words), np.asarray(other.words)])
        counts = np.concatenate([np.asarray(self.counts), np.asarray(other.counts)])
        return CountTable.of(words, counts)

    def lookup(self, words: UInt32[Array, "*batch words"]) -> Int[Array, "*batch"]:
        """How often each packed code was counted; 0 where it was not."""
        bits = (len(self.starts) - 2).bit_length()
        bucket = hash_words(words, jnp) >> np.uint32(WORD - bits)
        start, stop = self.starts[bucket], self.starts[bucket + 1]
        last = len(self.counts) - 1

        def probe(step: int | Int[Array, ""], found: Int[Array, "*batch"]) -> Int[Array, "*batch"]:
            place = start + step
            entry = jnp.minimum(place, last)
            same = (self.words[entry] == words).all(axis=-1) & (place < stop)
            return jnp.where(same, self.counts[entry], found)

        return jax.lax.fori_loop(0, self.probes, probe, jnp.zeros_like(start))

    def __len__(self) -> int:
        return len(self.counts)


def pack(bits: Bool[Array, "*batch bits"]) -> UInt32[Array, "*batch words"]:
    """Pack bits into 32-bit words, the first bit lowest."""
    count = bits.shape[-1]
    missing = -count % WORD
    padded = jnp.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    grouped = padded.reshape(*bits.shape[:-1], -1, WORD).astype(jnp.uint32)
    return jnp.sum(grouped << jnp.arange(WORD, dtype=jnp.uint32), axis=-1, dtype=jnp.uint32)
