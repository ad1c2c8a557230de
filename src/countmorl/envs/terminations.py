"""When a locomotion task ends, as a function of the next observation.

These are the rules of Gymnasium's MuJoCo environments, on observations instead of simulator
states. The version that is common in public code takes the absolute value of a comparison and so
lets large negative values pass; this one does not.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


def hopper(next_obs: Float[Array, " obs"]) -> Bool[Array, ""]:
    """A hopper falls: height at most 0.7, torso angle beyond 0.2, or a state out of range."""
    height, angle = next_obs[0], next_obs[1]
    in_range = jnp.isfinite(next_obs).all() & (jnp.abs(next_obs[1:]) < 100).all()
    return ~(in_range & (height > 0.7) & (jnp.abs(angle) < 0.2))


def walker2d(next_obs: Float[Array, " obs"]) -> Bool[Array, ""]:
    """A walker falls: height outside (0.8, 2.0) or torso angle beyond 1."""
    height, angle = next_obs[0], next_obs[1]
    alive = (height > 0.8) & (height < 2.0) & (jnp.abs(angle) < 1.0)
    return ~(alive & jnp.isfinite(next_obs).all())


def never(next_obs: Float[Array, " obs"]) -> Bool[Array, ""]:
    """A half-cheetah runs until the time limit, which is not a termination."""
    return jnp.zeros((), bool) & jax.lax.stop_gradient(next_obs[0] > 0)
