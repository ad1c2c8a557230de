"""The seam between a learner and everything that drives it."""

from abc import abstractmethod
from typing import Any, Self

import equinox as eqx
from jaxtyping import Array, Float

from countmorl.types import Key, Metrics, Transition


class AbstractAgent(eqx.Module):
    """A policy that learns. Every leaf is an array, so it passes through `jax.lax.scan`."""

    @abstractmethod
    def update(self, batch: Transition, *, key: Key) -> tuple[Self, Metrics]:
        """Learn from one batch; return the new agent and what it reports."""

    @abstractmethod
    def act(self, obs: Float[Array, "*batch obs"], *, key: Key) -> Float[Array, "*batch action"]:
        """Return actions in [-1, 1], sampled where the policy is stochastic."""

    @abstractmethod
    def network(self) -> dict[str, Any]:
        """Return what `countmorl.policy.Policy` needs to act: weights, biases, head, obs scale."""
