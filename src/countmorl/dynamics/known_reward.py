"""A reward that is known as a function, used in rollouts in place of a learned one."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from countmorl.data.dataset import Dataset
from countmorl.dynamics.layout import Layout
from countmorl.errors import ConfigError
from countmorl.extras import import_named

RewardRule = Callable[..., Float[Array, ""]]


class KnownReward(eqx.Module):
    """A user's function of one step, (obs, action, next_obs) -> reward, in the log's numbers.

    A discrete action is its number.
    """

    rule: RewardRule = eqx.field(static=True)

    @classmethod
    def of(cls, name: str | None) -> KnownReward | None:
        """Import the function; None where there is none."""
        return None if name is None else cls(reward_rule(name))

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


def reward_rule(name: str) -> RewardRule:
    """Find a user's `module:function`."""
    try:
        if ":" not in name:
            raise ImportError("it names no function")
        return import_named(name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"The reward function '{name}' could not be imported: {error}. It must be "
            "module:function, importable from here."
        ) from error


def check_reward(name: str, dataset: Dataset) -> None:
    """Refuse a function that cannot be found, or does not turn one step into one number."""
    rule = reward_rule(name)
    obs = jax.ShapeDtypeStruct((dataset.obs_dim,), jnp.float32)
    shape, kind = ((), jnp.int32) if dataset.discrete else ((dataset.action_dim,), jnp.float32)
    try:
        answer = jax.eval_shape(rule, obs, jax.ShapeDtypeStruct(shape, kind), obs)
        good = answer.shape == () and answer.dtype == jnp.float32
        got = f"{answer.dtype}{list(answer.shape)}"
    except Exception as error:
        good, got = False, f"{type(error).__name__}: {error}".splitlines()[0]
    if not good:
        raise ConfigError(
            f"The reward function '{name}' must turn one observation of {dataset.obs_dim} numbers, "
            "one action and one next observation into one float, in jax.numpy; it gave "
            f"{got}"
        )
