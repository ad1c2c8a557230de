"""How alike critics are: what EDAC keeps apart."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from countmorl.agents.heads import pair_value
from countmorl.nets import MLP


def likeness(
    critics: MLP, obs: Float[Array, "batch obs"], action: Float[Array, "batch action"]
) -> Float[Array, ""]:
    """How alike the critics' gradients by the action are (EDAC; An et al., NeurIPS 2021).

    The inner products of the normalised gradients of all ordered pairs, summed over pairs, averaged
    over the batch, divided by the number of critics less one: their number if all are alike.
    """
    slope = jax.vmap(jax.grad(pair_value, 2), (None, 0, 0))
    slopes = jax.vmap(slope, (0, None, None))(critics, obs, action)
    # A critic that is flat has no direction; the root of 0 has no gradient.
    size = jnp.sqrt(jnp.sum(jnp.square(slopes), axis=-1, keepdims=True) + 1e-20)
    slopes /= size
    whole = jnp.sum(jnp.square(slopes.sum(axis=0)), axis=-1)
    own = jnp.sum(jnp.square(slopes), axis=(0, 2))
    return jnp.mean(whole - own) / (len(slopes) - 1)
