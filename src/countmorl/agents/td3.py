"""TD3 (Fujimoto et al., 2018) with a pull towards the data's actions (TD3+BC)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Float, Int

from countmorl import trees
from countmorl.agents.base import (
    AbstractActorCriticConfig,
    AbstractAgent,
    in_rewards,
    network_policy,
)
from countmorl.agents.heads import q_values
from countmorl.configs import at_least
from countmorl.nets import MLP, adam
from countmorl.runtime.policy import Policy
from countmorl.scaling import Standardizer
from countmorl.spaces import ActionSpace
from countmorl.types import Key, Metrics, Transition


@dataclass(frozen=True, kw_only=True)
class TD3Config(AbstractActorCriticConfig):
    """The policy's learner."""

    mean_start: bool = True
    """Begin with critics that give every pair the value of the data's mean reward. From 0, values
    take 1 / (polyak (1 - discount)) updates to grow, and while they are small imitation weighs
    little (lambda): the actor leaves data that are narrow."""
    noise: float = 0.2
    """Deviation of the noise on the target policy's action."""
    noise_clip: float = 0.5
    """Largest size of that noise."""
    delay: int = 2
    """Critic steps for each step of the actor and the targets."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, noise=0, noise_clip=0, delay=1)


class TD3State(eqx.Module):
    """Networks, their targets, and optimisers."""

    actor: MLP
    averaged: MLP
    critics: MLP
    actor_target: MLP
    critic_targets: MLP
    actor_opt: optax.OptState
    critic_opt: optax.OptState
    step: Int[Array, ""]


class TD3BC(AbstractAgent):
    """Critic: (Q_i(s, a) - y)^2, y = r + gamma (1 - d) min_j Q'_j(s', clip(pi'(s') + noise)).

    Actor: -lambda mean Q_1(s, pi(s)) + mean (pi(s) - a)^2,
    lambda = value_weight / mean |Q_1(s, pi(s))|.
    """

    state: TD3State
    standardizer: Standardizer
    unit: Float[Array, ""]
    """What rewards are divided by before they are learned from."""
    config: TD3Config = eqx.field(static=True)
    value_weight: float = eqx.field(static=True)

    @classmethod
    def make(
        cls,
        config: TD3Config,
        standardizer: Standardizer,
        obs_dim: int,
        action_dim: int,
        *,
        value_weight: float,
        value: float = 0.0,
        unit: float = 1.0,
        key: Key,
    ) -> "TD3BC":
        """Start with random networks; every pair is worth `value` at first, more or less.

        Rewards are divided by `unit`.
        """
        value = value / unit
        actor_key, critic_key = jr.split(key)
        actor = MLP.make((obs_dim, *config.hidden, action_dim), key=actor_key)
        sizes = (obs_dim + action_dim, *config.hidden, 1)
        critics = jax.vmap(lambda k: MLP.make(sizes, key=k).shifted(value))(jr.split(critic_key))
        state = TD3State(
            actor=actor,
            averaged=jax.tree.map(jnp.copy, actor),
            critics=critics,
            actor_target=jax.tree.map(jnp.copy, actor),
            critic_targets=jax.tree.map(jnp.copy, critics),
            actor_opt=optax.adam(config.actor_rate).init(actor),  # type: ignore[arg-type]
            critic_opt=optax.adam(config.critic_rate).init(critics),  # type: ignore[arg-type]
            step=jnp.zeros((), jnp.int32),
        )
        return cls(state, standardizer, jnp.asarray(unit, jnp.float32), config, value_weight)

    def update(self, batch: Transition, *, key: Key) -> tuple[Self, Metrics]:
        """Critics at every step; actor and all targets at every `delay`-th."""
        batch = batch._replace(
            obs=self.standardizer(batch.obs),
            next_obs=self.standardizer(batch.next_obs),
            reward=batch.reward / self.unit,
        )
        old, y = self.state, self.backup(batch, key=key)

        def critic_loss(critics: MLP) -> tuple[Float[Array, ""], Float[Array, ""]]:
            q = q_values(critics, batch.obs, batch.action)
            return jnp.sum(jnp.mean(jnp.square(q - y), axis=1)), q.mean()

        (loss, q), gradient = jax.value_and_grad(critic_loss, has_aux=True)(old.critics)
        critics, critic_opt = adam(self.config.critic_rate, gradient, old.critic_opt, old.critics)
        state = eqx.tree_at(
            lambda s: (s.critics, s.critic_opt, s.step), old, (critics, critic_opt, old.step + 1)
        )
        due = state.step % self.config.delay == 0
        state = jax.lax.cond(due, lambda s: self._improve(s, batch), lambda s: s, state)
        new = eqx.tree_at(lambda agent: agent.state, self, state)
        return new, in_rewards({"critic_loss": loss, "q": q}, self.unit)

    def backup(self, batch: Transition, *, key: Key) -> Float[Array, " batch"]:
        """The critics' target y, for standardised observations."""
        noise = self.config.noise * jr.normal(key, batch.action.shape)
        noise = jnp.clip(noise, -self.config.noise_clip, self.config.noise_clip)
        target = jnp.tanh(self.state.actor_target(batch.next_obs))
        action = jnp.clip(target + noise, -1.0, 1.0)
        value = q_values(self.state.critic_targets, batch.next_obs, action).min(axis=0)
        return batch.reward + self.config.discount * jnp.where(batch.terminated, 0.0, value)

    def actor_loss(self, actor: MLP, critics: MLP, batch: Transition) -> Float[Array, ""]:
        """The actor's loss, for standardised observations."""
        action = jnp.tanh(actor(batch.obs))
        q = q_values(critics, batch.obs, action)[0]
        weight = jax.lax.stop_gradient(self.value_weight / jnp.mean(jnp.abs(q)))
        return -weight * q.mean() + jnp.mean(jnp.square(action - batch.action))

    def _improve(self, state: TD3State, batch: Transition) -> TD3State:
        gradient = jax.grad(self.actor_loss)(state.actor, state.critics, batch)
        actor, actor_opt = adam(self.config.actor_rate, gradient, state.actor_opt, state.actor)
        earlier = state.step // self.config.delay - 1
        share = self.config.average_share
        return TD3State(
            actor=actor,
            averaged=trees.lengthening_average(state.averaged, actor, share, earlier),
            critics=state.critics,
            actor_target=trees.polyak(state.actor_target, actor, self.config.polyak),
            critic_targets=trees.polyak(state.critic_targets, state.critics, self.config.polyak),
            actor_opt=actor_opt,
            critic_opt=state.critic_opt,
            step=state.step,
        )

    def act(self, obs: Float[Array, "*batch obs"], *, key: Key) -> Float[Array, "*batch action"]:
        """Return the policy's action; there is nothing to sample."""
        return jnp.tanh(self.state.actor(self.standardizer(obs)))

    def policy(self, space: ActionSpace, info: Mapping[str, Any]) -> Policy:
        """The averaged policy."""
        return network_policy(self.state.averaged, "tanh", self.standardizer, space, info)
