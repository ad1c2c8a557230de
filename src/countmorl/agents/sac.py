"""Soft actor-critic (Haarnoja et al., 2018), the learner inside the model-based methods."""

from collections.abc import Mapping
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Float, Int

from countmorl import trees
from countmorl.agents.base import AbstractActorCritic, in_rewards, network_policy
from countmorl.agents.heads import AbstractHead, CategoricalHead, Distribution, TanhHead
from countmorl.agents.likeness import likeness
from countmorl.agents.sac_config import LOG_STD_MAX, NO_PULL, Pull, SACConfig
from countmorl.agents.terms import AbstractCriticTerm, NoTerm
from countmorl.data.dataset import Dataset
from countmorl.errors import ConfigError
from countmorl.nets import MLP, CosineDecay, adam
from countmorl.runtime.policy import Policy
from countmorl.scaling import Standardizer
from countmorl.spaces import ActionSpace
from countmorl.types import Key, Metrics, Transition

LEAST_VALUE = 1e-3
"""The least mean size of values that an actor's loss is divided by, in units of rewards."""


class SACState(eqx.Module):
    """Networks and optimisers."""

    actor: MLP
    averaged: MLP
    critics: MLP
    """All critics, stacked."""
    targets: MLP
    log_weight: Float[Array, ""]
    """Logarithm of the entropy's weight."""
    actor_opt: optax.OptState
    critic_opt: optax.OptState
    weight_opt: optax.OptState


class SAC(AbstractActorCritic):
    """Two critics or more, a stochastic actor, a learned entropy weight.

    Critic: (Q_i(s, a) - y)^2, y = r + gamma (1 - d) [min_j Q'_j(s', a') - w log pi(a'|s')].
    Actor: w log pi(a|s) - min_i Q_i(s, a).  Entropy's weight w: -log w (log pi + target entropy).
    Where it also imitates, the actor's loss is that of TD3+BC (see `pulled`).
    """

    state: SACState
    term: AbstractCriticTerm
    standardizer: Standardizer
    """What observations are scaled by before any network sees them."""
    unit: Float[Array, ""]
    """What rewards are divided by before they are learned from."""
    config: SACConfig = eqx.field(static=True)
    head: AbstractHead = eqx.field(static=True)
    target_entropy: float = eqx.field(static=True)
    actor_rate: float | CosineDecay = eqx.field(static=True)
    pull: Pull = eqx.field(static=True, default=NO_PULL)

    @classmethod
    def make(
        cls,
        config: SACConfig,
        obs_dim: int,
        action_dim: int,
        *,
        updates: int,
        discrete: bool = False,
        standardizer: Standardizer | None = None,
        term: AbstractCriticTerm | None = None,
        value: float = 0.0,
        unit: float = 1.0,
        pull: Pull = NO_PULL,
        key: Key,
    ) -> "SAC":
        """Start with random networks and an entropy weight of 1; `updates` is the run's length.

        Where actions are `discrete`, `action_dim` is their number. `value` is what the critics
        give to every pair at first, more or less; rewards are divided by `unit`.
        """
        head = (
            CategoricalHead()
            if discrete
            else TanhHead(log_std_range=(config.log_std_min, LOG_STD_MAX))
        )
        if discrete and config.diversity:
            raise ConfigError(
                "`diversity` compares gradients by the action, which numbered actions have not. "
                "Leave it at 0."
            )
        logits, inputs, values = head.sizes(obs_dim, action_dim)
        actor_key, critic_key = jr.split(key)
        rate = config.actor_rate
        actor_rate = CosineDecay(rate, updates) if config.actor_decay else rate
        actor = MLP.make((obs_dim, *config.hidden, logits), key=actor_key)
        sizes = (inputs, *config.hidden, values)
        critic = lambda k: MLP.make(sizes, norm=config.critic_norm, key=k).shifted(value / unit)  # noqa: E731
        critics = jax.vmap(critic)(jr.split(critic_key, config.critics))
        log_weight = jnp.zeros(())
        state = SACState(
            actor=actor,
            averaged=jax.tree.map(jnp.copy, actor),
            critics=critics,
            targets=jax.tree.map(jnp.copy, critics),
            log_weight=log_weight,
            actor_opt=optax.adam(actor_rate).init(actor),  # type: ignore[arg-type]
            critic_opt=optax.adam(config.critic_rate).init(critics),  # type: ignore[arg-type]
            weight_opt=optax.adam(config.entropy_rate).init(log_weight),
        )
        entropy = config.target_entropy
        entropy = head.target_entropy(action_dim) if entropy is None else entropy
        standardizer = standardizer or Standardizer.identity(obs_dim)
        parts = (state, term or NoTerm(), standardizer, jnp.asarray(unit, jnp.float32))
        return cls(*parts, config, head, entropy, actor_rate, pull)

    @classmethod
    def of(
        cls,
        config: SACConfig,
        dataset: Dataset,
        *,
        updates: int,
        term: AbstractCriticTerm | None = None,
        pull: Pull = NO_PULL,
        key: Key,
    ) -> "SAC":
        """Start, sized and scaled for a dataset."""
        return cls.make(
            config,
            dataset.obs_dim,
            dataset.action_dim,
            updates=updates,
            discrete=dataset.discrete,
            standardizer=Standardizer.fit(dataset.obs) if config.normalize else None,
            term=term,
            value=config.first_value(dataset),
            unit=config.unit(dataset),
            pull=pull,
            key=key,
        )

    def update(self, batch: Transition, *, key: Key) -> tuple[Self, Metrics]:
        """Critics, then actor, then entropy weight, then targets."""
        target_key, actor_key = jr.split(key)
        old, config, batch = self.state, self.config, self.seen(batch)
        y = self.backup(batch, key=target_key)

        def critic_loss(critics: MLP) -> tuple[Float[Array, ""], Metrics]:
            q = self.head.q(critics, batch.obs, batch.action)
            error = jnp.sum(jnp.mean(jnp.square(q - y), axis=1))
            extra, facts = self.term(critics, self, batch, key=jr.fold_in(key, 2))
            if config.diversity:
                extra += config.diversity * likeness(critics, batch.obs, batch.action)
            return error + extra, {"critic_loss": error, "q": q.mean()} | facts

        (_, facts), gradient = jax.value_and_grad(critic_loss, has_aux=True)(old.critics)
        critics, critic_opt = adam(config.critic_rate, gradient, old.critic_opt, old.critics)
        weight = jnp.exp(old.log_weight)

        def actor_loss(actor: MLP) -> tuple[Float[Array, ""], tuple[Float[Array, ""], Metrics]]:
            policy = self.distribution(actor, batch.obs)
            good, log_prob = self.head.own_value(policy, critics, batch.obs, key=actor_key)
            loss, more = jnp.mean(weight * log_prob - good), {}
            if self.pull.weight:
                loss, more = self.pulled(loss, good, policy, batch.action)
            return loss, (log_prob.mean(), more)

        losses = jax.value_and_grad(actor_loss, has_aux=True)
        (actor_value, (log_prob, more)), gradient = losses(old.actor)
        actor, actor_opt = adam(self.actor_rate, gradient, old.actor_opt, old.actor)
        slope = -(log_prob + self.target_entropy)
        log_weight, weight_opt = adam(config.entropy_rate, slope, old.weight_opt, old.log_weight)
        state = SACState(
            actor=actor,
            averaged=self.average(actor),
            critics=critics,
            targets=trees.polyak(old.targets, critics, config.polyak),
            log_weight=log_weight,
            actor_opt=actor_opt,
            critic_opt=critic_opt,
            weight_opt=weight_opt,
        )
        metrics = {
            "actor_loss": actor_value,
            "entropy_weight": weight,
            "entropy": -log_prob,
        } | (more | facts)
        parts = (state, self.term.learned(facts))
        new = eqx.tree_at(lambda agent: (agent.state, agent.term), self, parts)
        return new, in_rewards(metrics, self.unit)

    def pulled(
        self,
        loss: Float[Array, ""],
        good: Float[Array, " batch"],
        policy: Distribution,
        action: Float[Array, "batch action"],
    ) -> tuple[Float[Array, ""], Metrics]:
        """The actor's loss with a pull to the data: lambda loss + weight mean_real d(pi(s), a).

        lambda = 1 / mean |min Q|, a constant, as in TD3+BC: values count by how they differ in
        relation to their own size, so the weight means the same whatever rewards are, and however
        far the discount looks ahead. The entropy is divided too: its worth in rewards stays. Of
        the two parts the first is reported as the actor's loss, in rewards.
        """
        real = jax.tree.map(lambda leaf: leaf[: self.pull.rows], policy)
        apart = jnp.mean(self.head.apart(real, action[: self.pull.rows]))
        # Critics that give 0 everywhere must not make the values' share infinite.
        size = jnp.maximum(jax.lax.stop_gradient(jnp.mean(jnp.abs(good))), LEAST_VALUE)
        facts = {"actor_loss": loss, "imitation": apart}
        return loss / size + self.pull.weight * apart, facts

    def imitate(self, batch: Transition) -> tuple[Self, Metrics]:
        """Raise the likelihood of the data's actions; nothing but the actor learns."""
        old, batch = self.state, self.seen(batch)
        loss = lambda actor: -jnp.mean(self.likelihood(actor, batch))  # noqa: E731
        value, gradient = jax.value_and_grad(loss)(old.actor)
        actor, actor_opt = adam(self.actor_rate, gradient, old.actor_opt, old.actor)
        where = lambda agent: (agent.state.actor, agent.state.averaged, agent.state.actor_opt)  # noqa: E731
        return eqx.tree_at(where, self, (actor, self.average(actor), actor_opt)), {"loss": value}

    def begun_as(self, clone: AbstractActorCritic) -> Self:
        """This agent with the actor of one that has imitated."""
        assert isinstance(clone, SAC)
        where = lambda agent: (agent.state.actor, agent.state.averaged)  # noqa: E731
        return eqx.tree_at(where, self, (clone.state.actor,) * 2)

    def average(self, actor: MLP) -> MLP:
        """The averaged policy after one more update."""
        share, updates = self.config.average_share, self.updates_so_far
        return trees.lengthening_average(self.state.averaged, actor, share, updates)

    @property
    def updates_so_far(self) -> Int[Array, ""]:
        """Updates that the actor has had."""
        return self.state.actor_opt[0].count  # type: ignore[index]

    def seen(self, batch: Transition) -> Transition:
        """A batch as the networks see it."""
        return batch._replace(
            obs=self.standardizer(batch.obs),
            next_obs=self.standardizer(batch.next_obs),
            reward=batch.reward / self.unit,
        )

    def backup(self, batch: Transition, *, key: Key) -> Float[Array, " batch"]:
        """The critics' target y."""
        policy = self.distribution(self.state.actor, batch.next_obs)
        q, log_prob = self.head.own_value(policy, self.state.targets, batch.next_obs, key=key)
        weight = jnp.exp(self.state.log_weight) if self.term.soft_backup else 0.0
        value = q - weight * log_prob
        return batch.reward + self.config.discount * jnp.where(batch.terminated, 0.0, value)

    def likelihood(self, actor: MLP, batch: Transition) -> Float[Array, " batch"]:
        """Log-density of the data's actions."""
        return self.distribution(actor, batch.obs).log_prob(batch.action)

    def distribution(self, actor: MLP, obs: Float[Array, "*batch obs"]) -> Distribution:
        """The policy at some standardised observations."""
        return self.head.distribution(actor(obs))

    def act(self, obs: Float[Array, "*batch obs"], *, key: Key) -> Float[Array, "*batch action"]:
        """Sample actions."""
        return self.distribution(self.state.actor, self.standardizer(obs)).sample(key=key)[0]

    def worth_before(self, obs: Float[Array, "batch obs"], *, key: Key) -> Float[Array, " batch"]:
        """gamma min_j Q'_j(s, a), a of the policy; in the log's rewards."""
        obs = self.standardizer(obs)
        policy = self.distribution(self.state.actor, obs)
        q, _ = self.head.own_value(policy, self.state.targets, obs, key=key)
        return self.config.discount * self.unit * q

    def advantage(self, lived: Transition) -> Float[Array, " batch"]:
        """r + gamma (1 - d) min Q(s', mean pi(s')) - min Q(s, a), standardised."""
        critics, lived = self.state.critics, self.seen(lived)
        action = self.distribution(self.state.actor, lived.next_obs).mode()
        after = self.head.q(critics, lived.next_obs, action).min(axis=0)
        target = lived.reward + self.config.discount * jnp.where(lived.terminated, 0.0, after)
        gain = target - self.head.q(critics, lived.obs, lived.action).min(axis=0)
        return (gain - gain.mean()) / (gain.std() + 1e-6)

    def policy(self, space: ActionSpace, info: Mapping[str, Any]) -> Policy:
        """The averaged policy."""
        limits = (self.config.log_std_min, LOG_STD_MAX)
        return network_policy(
            self.state.averaged,
            self.head.name,
            self.standardizer,
            space,
            info,
            log_std_range=limits,
        )
