"""The seam between a learner and everything that drives it."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from countmorl.configs import check_types, layer_sizes, positive
from countmorl.data.dataset import Dataset
from countmorl.errors import ConfigError
from countmorl.nets import MLP
from countmorl.runtime.policy import Head, Policy
from countmorl.scaling import Standardizer, reward_unit
from countmorl.spaces import ActionSpace
from countmorl.types import Key, Metrics, Transition


@dataclass(frozen=True, kw_only=True)
class AbstractActorCriticConfig:
    """What all learners with an actor and critics can be told."""

    hidden: tuple[int, ...] = (256, 256)
    """Units of each hidden layer of actor and critics."""
    discount: float = 0.995
    """Weight of the next step's value (gamma). With the papers' 0.99 a fall 300 steps ahead weighs
    5 %, and policies learn to run into it."""
    actor_rate: float = 3e-4
    """Step size of Adam for the actor."""
    critic_rate: float = 3e-4
    """Step size of Adam for the critics."""
    polyak: float = 0.005
    """Share of the networks that their targets take on whenever those are moved (tau)."""
    mean_start: bool = False
    """Begin with critics that give every pair the value of the data's mean reward, not 0."""
    reward_scale: float | Literal["auto"] = "auto"
    """What rewards are divided by before they are learned from. auto: a third of their root mean
    square in the data, so that their unit does not matter; the papers have 1."""
    average_share: float = 0.1
    """Latest share of the updates so far that the policy is averaged over before it is evaluated
    and saved. 0 takes the actor as it is."""

    def __post_init__(self) -> None:
        check_types(self)
        layer_sizes(self.hidden)
        positive(self, "actor_rate", "critic_rate")
        if self.reward_scale != "auto":
            positive(self, "reward_scale")
        if not 0 < self.polyak <= 1:
            raise ConfigError(f"`polyak` must be above 0 and at most 1, got {self.polyak:g}.")
        if not 0 <= self.average_share <= 1:
            raise ConfigError(f"`average_share` must be from 0 to 1, got {self.average_share:g}.")
        if not 0 <= self.discount < 1:
            raise ConfigError(f"`discount` must be at least 0 and below 1, got {self.discount:g}.")

    def unit(self, dataset: Dataset) -> float:
        """What the data's rewards are divided by."""
        return reward_unit(dataset.reward) if self.reward_scale == "auto" else self.reward_scale

    def first_value(self, dataset: Dataset) -> float:
        """What every pair is worth at first: V = r + gamma (1 - d) V, in the data's means."""
        if not self.mean_start:
            return 0.0
        going_on = self.discount * (1 - dataset.terminated.mean())
        return float(dataset.reward.mean(dtype=np.float64) / (1 - going_on))


VALUES = ("q", "actor_loss", "entropy_weight", "conservative_gap")
"""Metrics in the unit of rewards."""


def in_rewards(metrics: Metrics, unit: Float[Array, ""]) -> Metrics:
    """Metrics of a learner that saw rewards divided by `unit`, in the log's own unit."""
    factors = dict.fromkeys(VALUES, unit) | {"critic_loss": unit * unit}
    return {n: value * factors[n] if n in factors else value for n, value in metrics.items()}


class AbstractAgent(eqx.Module):
    """A policy that learns. Every leaf is an array, so it passes through `jax.lax.scan`."""

    @abstractmethod
    def update(self, batch: Transition, *, key: Key) -> tuple[Self, Metrics]:
        """Learn from one batch; return the new agent and what it reports."""

    @abstractmethod
    def act(self, obs: Float[Array, "*batch obs"], *, key: Key) -> Float[Array, "*batch action"]:
        """Return actions in [-1, 1], sampled where the policy is stochastic."""

    @abstractmethod
    def policy(self, space: ActionSpace, info: Mapping[str, Any]) -> Policy:
        """Return the policy as it is now, free of JAX; `space` are the data's actions."""


class AbstractActorCritic(AbstractAgent):
    """An agent with a stochastic actor and critics, as the model-based methods have."""

    @abstractmethod
    def imitate(self, batch: Transition) -> tuple[Self, Metrics]:
        """Raise the likelihood of the data's actions; nothing but the actor learns."""

    @abstractmethod
    def begun_as(self, clone: "AbstractActorCritic") -> Self:
        """Return this agent with the actor of another, which has imitated."""

    @abstractmethod
    def worth_before(self, obs: Float[Array, "batch obs"], *, key: Key) -> Float[Array, " batch"]:
        """What observations are worth one step before they are reached, in the log's rewards."""

    @abstractmethod
    def advantage(self, lived: Transition) -> Float[Array, " batch"]:
        """How much better steps were than the critics thought; standardised over the batch."""


def network_policy(
    net: MLP,
    head: Head,
    standardizer: Standardizer,
    space: ActionSpace,
    info: Mapping[str, Any],
    **more: Any,
) -> Policy:
    """A policy of plain arrays from an actor's network."""
    return Policy(
        weights=tuple(map(np.asarray, net.weights)),
        biases=tuple(map(np.asarray, net.biases)),
        head=head,
        obs_mean=np.asarray(standardizer.mean),
        obs_std=np.asarray(standardizer.std),
        space=space,
        info=info,
        **more,
    )
