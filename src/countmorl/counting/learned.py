"""Counts by learned codes: each elite's encoder and its table."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from countmorl import trees
from countmorl.counting.base import AbstractTableCounter, Counting
from countmorl.counting.codes import Autoencoder
from countmorl.counting.estimate import by_most
from countmorl.counting.fit import CodeFacts, CodesFit, collapsed
from countmorl.counting.search import PLAIN, VERIFIED, search_length
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
        """Fit encoders of the given length, or search for one; count the model's rows."""
        bits = job.config.bits
        if bits == "auto":
            aim = PLAIN if job.config.verified is None else VERIFIED
            counter, facts = search_length(lambda length: fitted(job, length), job.say, aim)
        else:
            counter, facts = fitted(job, bits)
        tell_quality(job, counter.bits, facts)
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


def fitted(job: Counting, bits: int) -> tuple[CodeCounter, CodeFacts]:
    """Fit encoders of one length; one that collapses is fitted again, never used in silence."""
    bad: list[int] = []
    for attempt in range(TRIES):
        fit = CodesFit(job.ensemble, job.rows, job.config, bits, attempt)
        autoencoders = job.do(fit)
        tables, facts = fit.counted(autoencoders)
        bad = collapsed(facts.samples_per_code, len(job.rows.x))
        if not bad:
            return CodeCounter(autoencoders=autoencoders, tables=tables), facts
        job.say(f"warning: the encoders of elites {bad} collapsed at {bits} bits; refitting")
    raise RunError(
        f"The encoders of elites {bad} collapse at {bits} bits even after {TRIES} tries, so "
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
            "The search found no better length"
            if job.config.bits == "auto"
            else "--codes.bits auto searches for a length"
        )
        job.say(
            f"warning: {each:.1f} rows per code are outside {SENSIBLE[0]:g} to {SENSIBLE[1]:g}: "
            f"{why}, so the penalty says little. {advice}."
        )
