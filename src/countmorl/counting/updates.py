"""Updates of the encoders: what they learn to rebuild, and from which bits."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Float

from countmorl.counting.base import CodesConfig
from countmorl.counting.codes import Autoencoder
from countmorl.counting.ordered import NOISE
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.types import Key, Metrics


class CodesState(eqx.Module):
    """The encoders of all elites, stacked, and their optimiser."""

    autoencoders: Autoencoder
    opt_state: optax.OptState


@eqx.filter_jit(donate="all-except-first")
def fit_epoch(
    frozen: tuple[Ensemble, Float[Array, "rows inputs"], Float[Array, " columns"]],
    state: CodesState,
    key: Key,
    config: CodesConfig,
    ordered: bool,
) -> tuple[CodesState, Metrics]:
    """Updates of all encoders on shared random batches; the dynamics model is never changed.

    What is rebuilt weighs by column. Where bits are `ordered`, only the first few of each row
    reach the decoder, any number of them alike.
    """
    ensemble, x, weights = frozen
    optimizer = optax.adam(config.fit_rate)
    scales = state.autoencoders.standardizer

    elites, bits = state.autoencoders.encoder.biases[-1].shape
    rows = config.fit_batch

    scale = max(config.fit_noise, NOISE) if ordered else config.fit_noise

    def noise(step_key: Key) -> Float[Array, "elites #batch bits"]:
        if scale == 0:
            return jnp.zeros((elites, 1, bits))
        return scale * jr.normal(jr.fold_in(step_key, 1), (elites, rows, bits))

    def kept(step_key: Key) -> Float[Array, "#batch bits"]:
        if not ordered:
            return jnp.ones((1, bits))
        lengths = jr.randint(jr.fold_in(step_key, 2), (rows, 1), 1, bits + 1)
        return (jnp.arange(bits) < lengths).astype(jnp.float32)

    def loss(
        parts: Any, told: tuple[Array, Array], jolt: Array, first: Array
    ) -> tuple[Array, Array]:
        each = jax.vmap(Autoencoder.loss, (0, 0, 0, 0, None, None))
        losses = each(Autoencoder(scales, *parts), told[0], told[1], jolt, first, weights)
        return jnp.sum(losses), losses

    def step(carry: Any, step_key: Key) -> tuple[Any, Array]:
        parts, opt_state = carry
        pairs = x[jr.randint(step_key, (rows,), 0, len(x))]
        hidden = ensemble.trunks(pairs)
        told = hidden, columns(ensemble, pairs, hidden, config)
        how = noise(step_key), kept(step_key)
        gradient, each = jax.grad(loss, has_aux=True)(parts, told, *how)
        change, opt_state = optimizer.update(gradient, opt_state)
        return (optax.apply_updates(parts, change), opt_state), each

    parts = (state.autoencoders.encoder, state.autoencoders.decoder)
    keys = jr.split(key, config.fit_updates)
    (parts, opt_state), losses = jax.lax.scan(step, (parts, state.opt_state), keys)
    new = CodesState(Autoencoder(scales, *parts), opt_state)
    return new, {"loss": losses.mean(), "reconstruction": losses.mean(axis=0)}


def columns(
    ensemble: Ensemble,
    pairs: Float[Array, "batch inputs"],
    hidden: Float[Array, "elites batch hidden"],
    config: CodesConfig,
) -> Float[Array, "elites batch columns"]:
    """What every elite's code is to tell: the pair, and the step that the elite predicts there."""
    same = jnp.broadcast_to(pairs, (len(hidden), *pairs.shape))
    if config.follow == "pairs":
        return same
    steps, _ = jax.vmap(GaussianNet.head)(ensemble.elite_members, hidden)
    return jnp.concatenate([same, steps], axis=-1)
