"""What kinds of actions differ in: how networks' outputs become actions and values."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from countmorl.nets import MLP, Categorical, TanhNormal
from countmorl.runtime.policy import Head
from countmorl.types import Key

Distribution = TanhNormal | Categorical


@dataclass(frozen=True)
class AbstractHead(ABC):
    """The end of an actor and of its critics."""

    name: Head

    @abstractmethod
    def sizes(self, obs_dim: int, action_dim: int) -> tuple[int, int, int]:
        """Outputs of the actor, inputs of a critic, outputs of a critic."""

    @abstractmethod
    def target_entropy(self, action_dim: int) -> float:
        """The entropy a policy is held to by default."""

    @abstractmethod
    def distribution(self, outputs: Float[Array, "*batch outputs"]) -> Distribution:
        """The policy, from its network's outputs."""

    @abstractmethod
    def q(
        self, critics: MLP, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch action"]
    ) -> Float[Array, "critics *batch"]:
        """Values of given actions by every critic."""

    @abstractmethod
    def own_value(
        self, policy: Distribution, critics: MLP, obs: Float[Array, "*batch obs"], *, key: Key
    ) -> tuple[Float[Array, "*batch"], Float[Array, "*batch"]]:
        """The least value over the critics of the policy's own action, and its log-density."""

    @abstractmethod
    def apart(
        self, policy: Distribution, action: Float[Array, "*batch action"]
    ) -> Float[Array, "*batch"]:
        """How far the policy is from given actions."""

    def all_values(
        self, critics: MLP, obs: Float[Array, "batch obs"]
    ) -> Float[Array, "actions critics batch"] | None:
        """Values of every action there is; None where they cannot be listed."""
        return None


def pair_value(
    critic: MLP, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch action"]
) -> Float[Array, "*batch"]:
    """Values Q(s, a) of pairs by one critic."""
    return critic(jnp.concatenate([obs, action], axis=-1))[..., 0]


def q_values(
    critics: MLP, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch action"]
) -> Float[Array, "critics *batch"]:
    """Values Q(s, a) of pairs by every critic."""
    return jax.vmap(pair_value, (0, None, None))(critics, obs, action)


@dataclass(frozen=True)
class TanhHead(AbstractHead):
    """Actions are vectors: a squashed normal policy, critics of pairs Q(s, a)."""

    name: Head = "tanh_normal"
    log_std_range: tuple[float, float] = (-5.0, 2.0)

    def sizes(self, obs_dim: int, action_dim: int) -> tuple[int, int, int]:
        """Mean and deviation of every number; one value of a pair."""
        return 2 * action_dim, obs_dim + action_dim, 1

    def target_entropy(self, action_dim: int) -> float:
        """Minus the number of action columns."""
        return -float(action_dim)

    def distribution(self, outputs: Float[Array, "*batch outputs"]) -> TanhNormal:
        """A squashed normal."""
        return TanhNormal.of(outputs, self.log_std_range)

    def q(
        self, critics: MLP, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch action"]
    ) -> Float[Array, "critics *batch"]:
        """Each critic at each pair."""
        return q_values(critics, obs, action)

    def own_value(
        self, policy: Distribution, critics: MLP, obs: Float[Array, "*batch obs"], *, key: Key
    ) -> tuple[Float[Array, "*batch"], Float[Array, "*batch"]]:
        """By one action, drawn."""
        action, log_prob = policy.sample(key=key)
        return self.q(critics, obs, action).min(axis=0), log_prob

    def apart(
        self, policy: Distribution, action: Float[Array, "*batch action"]
    ) -> Float[Array, "*batch"]:
        """The squared distance of the likeliest action, which says nothing of the deviation."""
        return jnp.sum(jnp.square(policy.mode() - action), axis=-1)


@dataclass(frozen=True)
class CategoricalHead(AbstractHead):
    """Actions are numbers 0 to K - 1, given as one-hot vectors: critics of states with K values.

    Expectations over the policy are exact sums (Christodoulou, "Soft Actor-Critic for Discrete
    Action Settings", 2019).
    """

    name: Head = "categorical"

    def sizes(self, obs_dim: int, action_dim: int) -> tuple[int, int, int]:
        """A logit of every action; a value of every action."""
        return action_dim, obs_dim, action_dim

    def target_entropy(self, action_dim: int) -> float:
        """Half of the uniform policy's; Christodoulou's 0.98 of it is nearly uniform."""
        return 0.5 * math.log(action_dim)

    def distribution(self, outputs: Float[Array, "*batch outputs"]) -> Categorical:
        """Probabilities by softmax."""
        return Categorical(jax.nn.log_softmax(outputs))

    def q(
        self, critics: MLP, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch action"]
    ) -> Float[Array, "critics *batch"]:
        """The chosen action's value among all."""
        return jnp.sum(jax.vmap(lambda critic: critic(obs))(critics) * action, axis=-1)

    def own_value(
        self, policy: Distribution, critics: MLP, obs: Float[Array, "*batch obs"], *, key: Key
    ) -> tuple[Float[Array, "*batch"], Float[Array, "*batch"]]:
        """Expected over all actions; nothing is drawn."""
        assert isinstance(policy, Categorical)
        least = jax.vmap(lambda critic: critic(obs))(critics).min(axis=0)
        chance = jnp.exp(policy.log_probs)
        return jnp.sum(chance * least, axis=-1), jnp.sum(chance * policy.log_probs, axis=-1)

    def apart(
        self, policy: Distribution, action: Float[Array, "*batch action"]
    ) -> Float[Array, "*batch"]:
        """Minus the log-likelihood: the likeliest of numbered actions has no gradient."""
        return -policy.log_prob(action)

    def all_values(
        self, critics: MLP, obs: Float[Array, "batch obs"]
    ) -> Float[Array, "actions critics batch"]:
        """Every output of every critic."""
        return jnp.moveaxis(jax.vmap(lambda critic: critic(obs))(critics), -1, 0)
