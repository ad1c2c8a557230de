"""Fitting encoders on the elites' frozen features, and judging the codes they give."""

from dataclasses import dataclass
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Array, Float

from countmorl import trees
from countmorl.configs import at_least, check_types, positive
from countmorl.counting.codes import Autoencoder
from countmorl.counting.table import MAX_BITS, CountTable, pack
from countmorl.dynamics.ensemble import Ensemble
from countmorl.errors import ConfigError
from countmorl.scaling import Standardizer
from countmorl.types import Key, Metrics

SAMPLE = 20_000
"""Rows that tell the scale of the features."""
CounterName = Literal["codes", "simhash", "exact"]


@dataclass(frozen=True, kw_only=True)
class CodesConfig:
    """The codes and how their encoders are fitted."""

    bits: int | Literal["auto"] = "auto"
    """Length of the code (d), 1 to 128. auto: the length at which about 7 rows share a code (5 to
    10 worked best in the paper), or a longer one where those would fill about a sixteenth of all
    codes."""
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
    bottleneck towards 0 and 1, so that rounding loses little; 0 is the paper's encoder."""

    def __post_init__(self) -> None:
        check_types(self)
        if self.bits != "auto" and not 1 <= self.bits <= MAX_BITS:
            raise ConfigError(f"`bits` must be auto or from 1 to {MAX_BITS}, got {self.bits}.")
        at_least(self, fit_epochs=1, fit_updates=1, fit_batch=1, fit_noise=0)
        positive(self, "fit_rate")


class CodesState(eqx.Module):
    """The encoders of all elites, stacked, and their optimiser."""

    autoencoders: Autoencoder
    opt_state: optax.OptState


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


def start(
    scales: Standardizer, inputs: int, bits: int, config: CodesConfig, *, key: Key
) -> CodesState:
    """Random encoders, one an elite; `scales` are the elites' `feature_scales`."""
    elites, width = scales.mean.shape

    def make(scale: Standardizer, member_key: Key) -> Autoencoder:
        return Autoencoder.make(scale, bits, width, inputs, key=member_key)

    autoencoders = jax.vmap(make)(scales, jr.split(key, elites))
    parts = (autoencoders.encoder, autoencoders.decoder)
    return CodesState(autoencoders, optax.adam(config.fit_rate).init(parts))  # type: ignore[arg-type]


@eqx.filter_jit(donate="all-except-first")
def fit_epoch(
    frozen: tuple[Ensemble, Float[Array, "rows inputs"], CodesConfig], state: CodesState, key: Key
) -> tuple[CodesState, Metrics]:
    """Updates of all encoders on shared random batches; the dynamics model is never changed."""
    ensemble, x, config = frozen
    optimizer = optax.adam(config.fit_rate)
    scales = state.autoencoders.features

    elites, bits = state.autoencoders.encoder.biases[-1].shape

    def noise(step_key: Key) -> Float[Array, "elites #batch bits"]:
        if config.fit_noise == 0:
            return jnp.zeros((elites, 1, bits))
        draw = jr.normal(jr.fold_in(step_key, 1), (elites, config.fit_batch, bits))
        return config.fit_noise * draw

    def loss(parts: Any, hidden: Array, target: Array, jolt: Array) -> tuple[Array, Array]:
        autoencoders = Autoencoder(scales, *parts)
        each = jax.vmap(Autoencoder.loss, (0, 0, None, 0))(autoencoders, hidden, target, jolt)
        return jnp.sum(each), each

    def step(carry: Any, step_key: Key) -> tuple[Any, Array]:
        parts, opt_state = carry
        target = x[jr.randint(step_key, (config.fit_batch,), 0, len(x))]
        hidden, jolt = ensemble.trunks(target), noise(step_key)
        gradient, each = jax.grad(loss, has_aux=True)(parts, hidden, target, jolt)
        change, opt_state = optimizer.update(gradient, opt_state)
        return (optax.apply_updates(parts, change), opt_state), each

    parts = (state.autoencoders.encoder, state.autoencoders.decoder)
    keys = jr.split(key, config.fit_updates)
    (parts, opt_state), losses = jax.lax.scan(step, (parts, state.opt_state), keys)
    new = CodesState(Autoencoder(scales, *parts), opt_state)
    return new, {"loss": losses.mean(), "reconstruction": losses.mean(axis=0)}


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


def quality(tables: list[CountTable], ones: np.ndarray, rows: int) -> dict[str, list[float]]:
    """Per elite: codes used, rows per code, and the mean entropy of a bit (1 is best)."""
    p = np.clip(ones, 1e-12, 1 - 1e-12)
    entropy = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    return {
        "codes": [len(table) for table in tables],
        "samples_per_code": [rows / len(table) for table in tables],
        "bit_entropy": entropy.mean(axis=1).tolist(),
    }


def collapsed(samples_per_code: list[float], rows: int) -> list[int]:
    """Elites whose codes say nothing: a handful of codes, or far fewer than the others have."""
    middle = float(np.median(samples_per_code))
    few = max(8, rows // 10_000)
    return [
        index
        for index, each in enumerate(samples_per_code)
        if rows / each < few or each > 20 * middle
    ]
