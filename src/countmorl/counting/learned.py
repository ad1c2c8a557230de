"""Counts by learned codes: each elite's encoder and its table."""

from dataclasses import replace
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from countmorl import trees
from countmorl.counting.base import AbstractTableCounter, Counting
from countmorl.counting.codes import Autoencoder
from countmorl.counting.estimate import by_most
from countmorl.counting.fit import Coded, CodeFacts, CodesFit, collapsed
from countmorl.counting.ordered import told
from countmorl.counting.table import CountTable, pack
from countmorl.errors import RunError
from countmorl.files import Arrays

SENSIBLE = (2.0, 50.0)
"""Rows per code between which counts can tell pairs apart."""
TRIES = 3


class CodeCounter(AbstractTableCounter):
    """One code and one table per elite; how far they disagree is the counts' uncertainty."""

    autoencoders: Autoencoder
    tables: tuple[CountTable, ...]
    limits: Float[Array, " elites"] | None = None
    """The largest error of each decoder with which a code is verified; None: all codes count."""
    ends: Float[Array, " elites"] | None = None
    """The error of each decoder beyond which a pair is astray; None: where most never saw it."""

    @classmethod
    def fit(cls, job: Counting) -> "CodeCounter":
        """Fit encoders of the given length, or of all; count the model's rows."""
        coded = fitted(job, job.config.bits)
        if coded.crowded is not None:
            job.say(told(coded.crowded))
        counter = cls(autoencoders=coded.autoencoders, tables=coded.tables)
        tell_quality(job, counter.bits, coded.facts)
        return counter

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "CodeCounter":
        """Bring back a counter that was saved."""
        saved = trees.nest(arrays)
        tables = tuple(map(CountTable.from_arrays, saved["tables"]))
        autoencoders = Autoencoder.from_arrays(saved["autoencoders"])
        known = {name: saved.get(name) for name in ("limits", "ends")}
        return cls(autoencoders=autoencoders, tables=tables, **known)

    @property
    def bits(self) -> int:
        """Length of the codes (d)."""
        return self.autoencoders.encoder.biases[-1].shape[-1]

    def words(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> UInt32[Array, "members batch words"]:
        """Round and pack every elite's bottleneck."""
        return pack(jax.vmap(Autoencoder.bits)(self.autoencoders, hidden))

    def counts(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> Int[Array, "members batch"]:
        """Count by every elite's code; a code that is not verified counts nothing."""
        counts = super().counts(x, hidden)
        if self.limits is None:
            return counts
        return jnp.where(self.errors(x, hidden) <= self.limits[:, None], counts, 0)

    def errors(
        self, x: Float[Array, "batch inputs"], hidden: Float[Array, "elites batch hidden"]
    ) -> Float[Array, "elites batch"]:
        """How far every elite's decoder is from the pairs themselves."""
        return jax.vmap(Autoencoder.error, (0, 0, None))(self.autoencoders, hidden, x)

    def astray(
        self,
        x: Float[Array, "batch inputs"],
        hidden: Float[Array, "elites batch hidden"],
        counts: Int[Array, "members batch"],
    ) -> Bool[Array, " batch"]:
        """Whether most decoders take a pair for nothing they know."""
        if self.ends is None:
            return super().astray(x, hidden, counts)
        apart: Array = self.errors(x, hidden) > self.ends[:, None]
        return jnp.asarray(by_most(apart))

    def merge(self, other: "CodeCounter") -> "CodeCounter":
        """Add up the tables of two datasets that were coded by the same encoders."""
        tables = tuple(a.merge(b) for a, b in zip(self.tables, other.tables, strict=True))
        return replace(self, tables=tables)


def fitted(job: Counting, bits: int | Literal["auto"]) -> Coded:
    """Fit encoders; those that collapse are fitted again, never used in silence."""
    bad: list[int] = []
    for attempt in range(TRIES):
        fit = CodesFit(job.ensemble, job.rows, job.config, bits, attempt, job.varying)
        coded = fit.counted(job.do(fit))
        bad = collapsed(coded.facts.samples_per_code, len(job.rows.x))
        if not bad:
            return coded
        job.say(f"warning: the encoders of elites {bad} collapsed ({fit.name}); fitting anew")
    raise RunError(
        f"The encoders of elites {bad} collapse ({bits} bits) even after {TRIES} tries, so "
        "their counts mean nothing. Try another --codes.bits, or more --codes.fit-epochs."
    )


def tell_quality(job: Counting, bits: int, facts: CodeFacts) -> None:
    """Say how many rows share a code, and aloud where that makes counts useless."""
    each = np.median(facts.samples_per_code)
    job.say(
        f"codes of {bits} bits: {each:.1f} rows per code, and a typical held-out pair "
        f"counts {facts.typical_count:.1f}"
    )
    if not SENSIBLE[0] <= each <= SENSIBLE[1]:
        why = "nearly every pair looks unseen" if each < SENSIBLE[0] else "pairs look alike"
        advice = (
            "No length up to 32 is better"
            if job.config.bits == "auto"
            else "--codes.bits auto finds a length"
        )
        job.say(
            f"warning: {each:.1f} rows per code are outside {SENSIBLE[0]:g} to {SENSIBLE[1]:g}: "
            f"{why}, so the penalty says little. {advice}."
        )
