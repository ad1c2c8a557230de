"""RepB-SDE's balance: a term of the model's loss that keeps features of data and policy alike."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from countmorl import trees
from countmorl.agents.base import AbstractAgent
from countmorl.dynamics.gaussian import AbstractModelTerm, GaussianNet
from countmorl.scaling import Standardizer
from countmorl.types import Key, Transition


class Balance(AbstractModelTerm):
    """How far the mean features on the data are from those on the policy's own path."""

    data: Transition
    standardizer: Standardizer
    agent: AbstractAgent
    weight: float = eqx.field(static=True)
    discount: float = eqx.field(static=True)
    batch: int = eqx.field(static=True)

    def __call__(self, members: GaussianNet, *, key: Key) -> Float[Array, ""]:
        """Sum over the members, on one random batch."""
        row_key, first_key, next_key = jr.split(key, 3)
        rows = jr.randint(row_key, (2, self.batch), 0, len(self.data.reward))
        step, first = trees.take(self.data, rows[0]), self.data.obs[rows[1]]
        after = self.agent.act(step.next_obs, key=next_key)
        start = self.agent.act(first, key=first_key)
        x, y, z = (
            self.standardizer(jnp.concatenate(pair, axis=-1))
            for pair in ((step.obs, step.action), (step.next_obs, after), (first, start))
        )
        live = jnp.where(step.terminated, 0.0, self.discount)[:, None]

        def one(member: GaussianNet) -> Float[Array, ""]:
            phi = member.representation
            gap = phi(x) - live * phi(y) - (1 - self.discount) * phi(z)
            return jnp.sum(jnp.square(gap.mean(axis=0)))

        return self.weight * jnp.sum(jax.vmap(one)(members))
