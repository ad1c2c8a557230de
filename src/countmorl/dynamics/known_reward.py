"""A reward that is known as a function, used in rollouts in place of a learned one."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from countmorl.data.dataset import Dataset
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.rules import find_function, try_function

RewardRule = Callable[..., Float[Array, ""]]
WHAT = "reward function"


class KnownReward(eqx.Module):
    """A user's function of one step, (obs, action, next_obs) -> reward, in the log's numbers.

    A discrete action is its number.
    """

    rule: RewardRule = eqx.field(static=True)

    @classmethod
    def of(cls, name: str | None) -> KnownReward | None:
        """Import the function; None where there is none."""
        return None if name is None else cls(find_function(name, WHAT))

    def __call__(
        self,
        layout: Layout,
        obs: Float[Array, "batch obs"],
        action: Float[Array, "batch action"],
        next_obs: Float[Array, "batch obs"],
    ) -> Float[Array, " batch"]:
        """Reward every row; actions come in [-1, 1]."""
        own = action.argmax(axis=-1) if layout.discrete else layout.logged(action)
        return jax.vmap(self.rule)(obs, own, next_obs)


def check_reward(name: str, dataset: Dataset) -> None:
    """Refuse a function that cannot be found, or does not turn one step into one number."""
    obs = jax.ShapeDtypeStruct((dataset.obs_dim,), jnp.float32)
    shape, kind = ((), jnp.int32) if dataset.discrete else ((dataset.action_dim,), jnp.float32)
    wanted = (
        f"The reward function '{name}' must turn one observation of {dataset.obs_dim} numbers, one "
        "action and one next observation into one float"
    )
    step = (obs, jax.ShapeDtypeStruct(shape, kind), obs)
    try_function(find_function(name, WHAT), *step, kind=jnp.float32, wanted=wanted)
