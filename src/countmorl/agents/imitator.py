"""A policy before it seeks values: it only imitates the data."""

from typing import Any, Self

import equinox as eqx
from jaxtyping import Array, Float

from countmorl.agents.base import AbstractAgent
from countmorl.agents.sac import SAC
from countmorl.types import Key, Metrics, Transition


class Imitator(AbstractAgent):
    """An agent that only imitates: what a policy is before it seeks values."""

    agent: SAC

    def update(self, batch: Transition, *, key: Key) -> tuple[Self, Metrics]:
        """Imitate one batch."""
        agent, metrics = self.agent.imitate(batch)
        return eqx.tree_at(lambda imitator: imitator.agent, self, agent), metrics

    def act(self, obs: Float[Array, "*batch obs"], *, key: Key) -> Float[Array, "*batch action"]:
        """Sample actions."""
        return self.agent.act(obs, key=key)

    def network(self) -> dict[str, Any]:
        """The averaged policy."""
        return self.agent.network()
