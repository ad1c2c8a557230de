"""The learner of behaviour cloning: regress the logged actions on the observations."""

from collections.abc import Mapping
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from countmorl.agents.base import AbstractAgent, network_policy
from countmorl.nets import MLP, Categorical, CosineDecay
from countmorl.runtime.policy import Policy
from countmorl.scaling import Standardizer
from countmorl.spaces import ActionSpace
from countmorl.types import Key, Metrics, Transition


class BCAgent(AbstractAgent):
    """A deterministic policy a = tanh(net(standardised obs)), fitted by mean squared error.

    Where actions are discrete, a classifier: softmax(net(standardised obs)), by cross-entropy.
    """

    actor: MLP
    standardizer: Standardizer
    opt_state: optax.OptState
    schedule: CosineDecay = eqx.field(static=True)
    discrete: bool = eqx.field(static=True)

    @classmethod
    def make(
        cls,
        standardizer: Standardizer,
        sizes: tuple[int, ...],
        *,
        schedule: CosineDecay,
        discrete: bool = False,
        key: Key,
    ) -> "BCAgent":
        """Start with random weights; `sizes` runs from the observation to the action."""
        actor = MLP.make(sizes, key=key)
        opt_state = optax.adam(schedule).init(actor)  # type: ignore[arg-type]
        return cls(actor, standardizer, opt_state, schedule, discrete)

    def update(self, batch: Transition, *, key: Key) -> tuple[Self, Metrics]:
        """One step of Adam on mean((tanh(net(obs)) - action)^2), or on mean(-log p(action))."""

        def loss(actor: MLP) -> Float[Array, ""]:
            outputs = actor(self.standardizer(batch.obs))
            if self.discrete:
                return -jnp.mean(jnp.sum(jax.nn.log_softmax(outputs) * batch.action, axis=-1))
            return jnp.mean(jnp.square(jnp.tanh(outputs) - batch.action))

        value, gradient = jax.value_and_grad(loss)(self.actor)
        optimizer = optax.adam(self.schedule)
        change, opt_state = optimizer.update(gradient, self.opt_state)
        actor = optax.apply_updates(self.actor, change)  # type: ignore[arg-type]
        new = eqx.tree_at(lambda agent: (agent.actor, agent.opt_state), self, (actor, opt_state))
        return new, {"loss": value}

    def act(self, obs: Float[Array, "*batch obs"], *, key: Key) -> Float[Array, "*batch action"]:
        """Return the fitted action; there is nothing to sample."""
        outputs = self.actor(self.standardizer(obs))
        return Categorical(outputs).mode() if self.discrete else jnp.tanh(outputs)

    def expected(self, obs: Float[Array, "*batch obs"]) -> Float[Array, "*batch action"]:
        """The fitted action; where actions are discrete, the chance of each."""
        outputs = self.actor(self.standardizer(obs))
        return jax.nn.softmax(outputs) if self.discrete else jnp.tanh(outputs)

    def policy(self, space: ActionSpace, info: Mapping[str, Any]) -> Policy:
        """The fitted network."""
        head = "categorical" if self.discrete else "tanh"
        return network_policy(self.actor, head, self.standardizer, space, info)
