"""Fitting encoders on the elites' frozen features, and judging the codes they give."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from countmorl import trees
from countmorl.counting.base import CodesConfig
from countmorl.counting.codes import Autoencoder
from countmorl.counting.ordered import (
    LONGEST,
    PLAIN,
    VERIFIED,
    Aim,
    best_length,
    crowding_by_length,
)
from countmorl.counting.table import MAX_BITS, CountTable, pack
from countmorl.counting.updates import CodesState, fit_epoch
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import ModelRows
from countmorl.fitting import AbstractFit
from countmorl.scaling import Standardizer
from countmorl.types import Key, Metrics

SAMPLE = 20_000
"""Rows that tell the scale of the features."""
LEAST = 0.01
"""What a column weighs at the least, to the most: decoders must not forget that it is there."""
STEPS = 4.0
"""What a column of the predicted step weighs, to one of the pair (lab/codes.md)."""
ORDERED = "ordered"
"""What a stage is called, in place of its bits, that fits all lengths."""


@dataclass(frozen=True, kw_only=True)
class CodeFacts:
    """What fitted codes are like, one number per elite, and what a held-out pair counts."""

    codes: list[int]
    """Codes in use."""
    samples_per_code: list[float]
    """Rows that share a code, on average."""
    bit_entropy: list[float]
    """Mean entropy of a bit (1 is best)."""
    typical_count: float
    """The median, over held-out rows, of the members' mean count."""


class Coded(NamedTuple):
    """Fitted codes of the length that is counted by, and the rows they have counted."""

    autoencoders: Autoencoder
    tables: tuple[CountTable, ...]
    facts: CodeFacts
    crowded: dict[int, float] | None
    """How crowded each length would be, where the fit gave all of them."""


def column_weights(
    ensemble: Ensemble, varying: Float[np.ndarray, " obs"] | None
) -> Float[Array, " columns"]:
    """What columns weigh when encoders learn to rebuild them: a pair's, then those predicted.

    Pairs' weigh 1 on average; predicted ones more, but for those that never differ.
    """
    weights = np.ones(ensemble.standardizer.mean.shape)
    if varying is not None:
        weights[: len(varying)] = np.maximum(varying, LEAST)
    predicted = np.asarray(ensemble.targets.std) > 0
    return jnp.asarray(np.concatenate([weights / weights.mean(), STEPS * predicted]), jnp.float32)


def feature_scales(ensemble: Ensemble, x: Float[Array, "rows inputs"]) -> Standardizer:
    """Mean and deviation of every elite's hidden layer, per feature, over (some of) the data.

    Without this scaling some encoders collapse to a single code.
    """
    sample = x[:: max(1, len(x) // SAMPLE)]
    return _scales(ensemble, sample)


@eqx.filter_jit
def _scales(ensemble: Ensemble, sample: Float[Array, "rows inputs"]) -> Standardizer:
    hidden = ensemble.trunks(sample)
    std = hidden.std(axis=1)
    return Standardizer(hidden.mean(axis=1), jnp.where(std < 1e-6, 1.0, std))


class CodesFit(AbstractFit[CodesState, Autoencoder]):
    """Fits the elites' encoders for one code length, or for every length at once."""

    def __init__(
        self,
        ensemble: Ensemble,
        rows: ModelRows,
        config: CodesConfig,
        bits: int | Literal["auto"],
        attempt: int = 0,
        varying: Float[np.ndarray, " obs"] | None = None,
    ) -> None:
        self.ensemble, self.config, self.ordered = ensemble, config, bits == "auto"
        self.bits = LONGEST if bits == "auto" else bits
        self.x, self.held = rows.x, rows.holdout_x
        self.inputs = rows.x.shape[1]
        self.weights = jnp.ones(self.inputs)
        if config.follow == "dynamics":
            self.weights = column_weights(ensemble, varying)
        self._counted: Coded | None = None
        # Computed here: inside the compiled `init` the data would be constants that XLA folds.
        self.standardizer = feature_scales(ensemble, rows.x)
        kind = ORDERED if self.ordered else f"{bits}"
        self.name = f"codes-{kind}" + (f"-again{attempt}" if attempt else "")
        self.stream = 1000 * (attempt + 1) + self.bits + MAX_BITS * self.ordered
        self.epochs, self.updates = config.fit_epochs, config.fit_updates

    def init(self, *, key: Key) -> CodesState:
        """Random encoders, one per elite."""
        elites, width = self.standardizer.mean.shape
        columns = len(self.weights)

        def make(standardizer: Standardizer, member_key: Key) -> Autoencoder:
            return Autoencoder.make(standardizer, self.bits, width, columns, key=member_key)

        autoencoders = jax.vmap(make)(self.standardizer, jr.split(key, elites))
        parts = (autoencoders.encoder, autoencoders.decoder)
        return CodesState(autoencoders, optax.adam(self.config.fit_rate).init(parts))  # type: ignore[arg-type]

    def epoch(self, state: CodesState, *, key: Key) -> tuple[CodesState, Metrics]:
        """Encoder updates."""
        frozen = self.ensemble, self.x, self.weights
        return fit_epoch(frozen, state, key, self.config, self.ordered)

    def judge(self, state: CodesState, epoch: int) -> dict[str, Any]:
        """At the end: what the codes are like."""
        return asdict(self.counted(self.result(state)).facts) if epoch == self.epochs else {}

    def result(self, state: CodesState) -> Autoencoder:
        """The encoders; what a step would be is not asked of their decoders any more."""
        return state.autoencoders.rebuilding(self.inputs)

    def counted(self, autoencoders: Autoencoder) -> Coded:
        """The codes that fitted encoders give, cut to a length where they are ordered; once."""
        if self._counted is None:
            aim = aim_of(self.config) if self.ordered else None
            self._counted = coded(self.ensemble, autoencoders, self.x, self.held, aim)
        return self._counted


def aim_of(config: CodesConfig) -> Aim:
    """How crowded codes are to be that are counted in such a way."""
    return PLAIN if config.verified is None else VERIFIED


def coded(
    ensemble: Ensemble,
    autoencoders: Autoencoder,
    x: Float[Array, "rows inputs"],
    held: Float[Array, "others inputs"],
    aim: Aim | None,
) -> Coded:
    """Count rows by fitted encoders; with an `aim` they are ordered, and cut to a length."""
    words, ones = encode(ensemble, autoencoders, x)
    crowded = None
    if aim is not None:
        crowded = crowding_by_length(words[..., 0], aim)
        bits = best_length(crowded, aim)
        autoencoders, ones = autoencoders.first(bits), ones[:, :bits]
        words = words & np.uint32(2**bits - 1)
    tables = tuple(CountTable.of(member) for member in words)
    counts = np.asarray(code_counts(autoencoders, tables, ensemble.trunks(held)))
    return Coded(autoencoders, tables, describe(tables, ones, len(x), counts), crowded)


@eqx.filter_jit
def _encode(ensemble: Ensemble, autoencoders: Autoencoder, x: Array) -> Array:
    def one(rows: Array, _: Array) -> Array:
        return pack(jax.vmap(Autoencoder.bits)(autoencoders, ensemble.trunks(rows)))

    return trees.in_blocks(one, x, axis=1)


def encode(
    ensemble: Ensemble, autoencoders: Autoencoder, x: Float[Array, "rows inputs"]
) -> tuple[np.ndarray, np.ndarray]:
    """Packed codes [elites, rows, words] and the share of ones in each bit [elites, bits]."""
    words = np.asarray(_encode(ensemble, autoencoders, x))
    bits = autoencoders.encoder.biases[-1].shape[-1]
    ones = np.stack([_ones(member, bits) for member in words])
    return words, ones / len(x)


def _ones(words: np.ndarray, bits: int) -> np.ndarray:
    return np.array(
        [
            np.count_nonzero(words[:, b // 32] >> np.uint32(b % 32) & np.uint32(1))
            for b in range(bits)
        ]
    )


def code_counts(
    autoencoders: Autoencoder,
    tables: tuple[CountTable, ...],
    hidden: Float[Array, "elites batch hidden"],
) -> Int[Array, "elites batch"]:
    """Round, pack, look up."""
    words = pack(jax.vmap(Autoencoder.bits)(autoencoders, hidden))
    return jnp.stack([table.lookup(w) for table, w in zip(tables, words, strict=True)])


@eqx.filter_jit
def rebuilding_errors(
    ensemble: Ensemble, autoencoders: Autoencoder, x: Float[Array, "rows inputs"]
) -> Float[Array, "elites rows"]:
    """How far every elite's decoder is from the pairs themselves."""

    def one(rows: Array, _: Array) -> Array:
        each = jax.vmap(Autoencoder.error, (0, 0, None))
        return each(autoencoders, ensemble.trunks(rows), rows)

    return trees.in_blocks(one, x, axis=1)


def describe(
    tables: tuple[CountTable, ...], ones: np.ndarray, rows: int, held: np.ndarray
) -> CodeFacts:
    """Sum up the codes of so many rows; `held` are the counts of held-out pairs."""
    p = np.clip(ones, 1e-12, 1 - 1e-12)
    entropy = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    return CodeFacts(
        codes=[len(table) for table in tables],
        samples_per_code=[rows / len(table) for table in tables],
        bit_entropy=entropy.mean(axis=1).tolist(),
        typical_count=float(np.median(held.mean(axis=0))),
    )


def collapsed(samples_per_code: list[float], rows: int) -> list[int]:
    """Elites whose codes say nothing: a handful of codes, or far fewer than the others have."""
    middle = float(np.median(samples_per_code))
    few = max(8, rows // 10_000)
    return [
        index
        for index, each in enumerate(samples_per_code)
        if rows / each < few or each > 20 * middle
    ]
