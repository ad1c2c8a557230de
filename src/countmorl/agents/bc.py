"""The learner of behaviour cloning: regress the logged actions on the observations."""

from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from countmorl.agents.base import AbstractAgent
from countmorl.data.standardizer import Standardizer
from countmorl.nets import MLP, CosineDecay
from countmorl.types import Key, Metrics, Transition


class BCAgent(AbstractAgent):
    """A deterministic policy a = tanh(net(standardised obs)), fitted by mean squared error."""

    actor: MLP
    standardizer: Standardizer
    opt_state: optax.OptState
    schedule: CosineDecay = eqx.field(static=True)

    @classmethod
    def make(
        cls,
        standardizer: Standardizer,
        sizes: tuple[int, ...],
        *,
        schedule: CosineDecay,
        key: Key,
    ) -> "BCAgent":
        """Start with random weights; `sizes` runs from the observation to the action."""
        actor = MLP.make(sizes, key=key)
        opt_state = optax.adam(schedule).init(actor)  # type: ignore[arg-type]
        return cls(actor, standardizer, opt_state, schedule)

    def update(self, batch: Transition, *, key: Key) -> tuple[Self, Metrics]:
        """One step of Adam on mean((tanh(net(obs)) - action)^2)."""

        def loss(actor: MLP) -> Float[Array, ""]:
            return jnp.mean(jnp.square(self._forward(actor, batch.obs) - batch.action))

        value, gradient = jax.value_and_grad(loss)(self.actor)
        optimizer = optax.adam(self.schedule)
        change, opt_state = optimizer.update(gradient, self.opt_state)
        actor = optax.apply_updates(self.actor, change)  # type: ignore[arg-type]
        new = eqx.tree_at(lambda agent: (agent.actor, agent.opt_state), self, (actor, opt_state))
        return new, {"loss": value}

    def act(self, obs: Float[Array, "*batch obs"], *, key: Key) -> Float[Array, "*batch action"]:
        """Return the fitted action; there is nothing to sample."""
        return self._forward(self.actor, obs)

    def network(self) -> dict[str, Any]:
        """Return weights, biases, head and observation scale."""
        return {
            "weights": self.actor.weights,
            "biases": self.actor.biases,
            "head": "tanh",
            "obs_mean": self.standardizer.mean,
            "obs_std": self.standardizer.std,
        }

    def _forward(
        self, actor: MLP, obs: Float[Array, "*batch obs"]
    ) -> Float[Array, "*batch action"]:
        return jnp.tanh(actor(self.standardizer(obs)))
