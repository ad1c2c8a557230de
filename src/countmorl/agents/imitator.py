"""A policy before it seeks values: it only imitates the data."""

from collections.abc import Mapping
from typing import Any, Generic, Self, TypeVar

import equinox as eqx
from jaxtyping import Array, Float

from countmorl.agents.base import AbstractActorCritic, AbstractAgent
from countmorl.runtime.policy import Policy
from countmorl.spaces import ActionSpace
from countmorl.types import Key, Metrics, Transition

Agent = TypeVar("Agent", bound=AbstractActorCritic)


class Imitator(AbstractAgent, Generic[Agent]):
    """An agent that only imitates: what a policy is before it seeks values."""

    agent: Agent

    def update(self, batch: Transition, *, key: Key) -> tuple[Self, Metrics]:
        """Imitate one batch."""
        agent, metrics = self.agent.imitate(batch)
        return eqx.tree_at(lambda imitator: imitator.agent, self, agent), metrics

    def act(self, obs: Float[Array, "*batch obs"], *, key: Key) -> Float[Array, "*batch action"]:
        """Sample actions."""
        return self.agent.act(obs, key=key)

    def policy(self, space: ActionSpace, info: Mapping[str, Any]) -> Policy:
        """The policy that has imitated."""
        return self.agent.policy(space, info)
