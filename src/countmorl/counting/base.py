"""The seam of counting: anything that counts state-action pairs for a set of members."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from countmorl import trees
from countmorl.configs import added, at_least, check_types, positive
from countmorl.counting.estimate import mostly_unseen
from countmorl.counting.table import MAX_BITS, CountTable
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import ModelRows
from countmorl.errors import ConfigError
from countmorl.files import Arrays
from countmorl.fitting import Do


@dataclass(frozen=True, kw_only=True)
class CodesConfig:
    """The codes and how their encoders are fitted."""

    bits: int | Literal["auto"] = "auto"
    """Length of the code (d), 1 to 128. auto: all lengths up to 32 are fitted at once, bits in the
    order of what they tell, and the code is cut where about 14 rows share one. Where codes are not
    verified, where about 7 do (5 to 10 worked best in the paper), or a longer one where those would
    fill about a sixteenth of all codes."""
    follow: Literal["dynamics", "pairs"] = added("pairs", default="dynamics")
    """What codes are to tell. pairs: every column of a pair alike, as in the paper. dynamics: the
    step, too, that the member predicts there, and columns of the observation by how much of their
    variance lies within episodes, actions fully. Or a column that only tells episodes apart, such
    as a weight or an age, uses up the code."""
    fit_epochs: int = 6
    """Epochs of encoder updates."""
    fit_updates: int = 1000
    """Encoder updates in one epoch."""
    fit_batch: int = 256
    """Rows of one encoder update."""
    fit_rate: float = 1e-3
    """Step size of Adam for the encoders."""
    fit_noise: float = 0.0
    """Deviation of normal noise on the bottleneck before its sigmoid, while fitting. It drives the
    bottleneck towards 0 and 1, so that rounding loses little; 0 is the paper's encoder. Where all
    lengths are fitted at once it is a half at the least."""
    verified: float | Literal["auto"] | None = "auto"
    """Count a pair only where its code is verified: where the decoder rebuilds the pair as well as
    it rebuilds this share of the data, such as 0.99. A policy is optimised into pairs that share a
    crowded code with pairs they are far from; the decoder tells them apart. auto: the strictest of
    a few thresholds at which most of what a clone of the data imagines is verified. None: every
    code counts, as in the paper."""

    def __post_init__(self) -> None:
        check_types(self)
        if self.verified not in (None, "auto") and not 0 < self.verified <= 1:
            raise ConfigError(
                f"`verified` must be auto, or above 0 and at most 1, got {self.verified:g}."
            )
        if self.bits != "auto" and not 1 <= self.bits <= MAX_BITS:
            raise ConfigError(f"`bits` must be auto or from 1 to {MAX_BITS}, got {self.bits}.")
        at_least(self, fit_epochs=1, fit_updates=1, fit_batch=1, fit_noise=0)
        positive(self, "fit_rate")


@dataclass(frozen=True, eq=False, kw_only=True)
class Counting:
    """What a counter is fitted on, and with."""

    ensemble: Ensemble
    rows: ModelRows
    """The model's rows. Training rows are counted, hold-out rows never."""
    config: CodesConfig
    seed: int
    do: Do
    """Carries out a fit: in memory, or as a stage of a run."""
    say: Callable[[str], None]
    """Tells the user something about the data."""
    varying: Float[np.ndarray, " obs"] | None = None
    """How much of each observed column's variance lies within episodes; None: all alike."""


class AbstractCounter(eqx.Module):
    """Counts of pairs, one row per member (or a single row where there is one opinion)."""

    @classmethod
    @abstractmethod
    def fit(cls, job: Counting) -> Self:
        """Count the model's training rows, after learning whatever that takes."""

    @abstractmethod
    def counts(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> Int[Array, "members batch"]:
        """Count pairs, given as standardised inputs and as the elites' hidden layers."""

    def words(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> UInt32[Array, "members batch words"] | None:
        """Every member's code of pairs, in words; None where pairs are not counted by codes."""
        return None

    def astray(
        self,
        x: Float[Array, "batch inputs"],
        hidden: Float[Array, "elites batch hidden"],
        counts: Int[Array, "members batch"],
    ) -> Bool[Array, " batch"]:
        """Whether pairs, counted already, are so far from all data that a rollout ends there."""
        return mostly_unseen(counts)

    @property
    def rows_per_code(self) -> float | None:
        """Rows that share a code, the middle of the members; None where there are no codes."""
        return None

    def to_arrays(self) -> Arrays:
        """Name every array, for a file."""
        return trees.to_arrays(self)

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Bring back what `to_arrays` has named; `trees.nest` takes the names apart."""


class AbstractTableCounter(AbstractCounter):
    """A counter that looks codes up in tables, one per member."""

    tables: eqx.AbstractVar[tuple[CountTable, ...]]

    def counts(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> Int[Array, "members batch"]:
        """Look every member's code up in its table."""
        words = self.words(x, hidden)
        assert words is not None, "a counter with tables has codes"
        return jnp.stack([table.lookup(w) for table, w in zip(self.tables, words, strict=True)])

    @property
    def rows_per_code(self) -> float:
        """Rows that share a code, the middle of the members."""
        return float(np.median([float(t.counts.sum()) / len(t) for t in self.tables]))
