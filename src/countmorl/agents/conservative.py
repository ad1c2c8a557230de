"""The conservative term of CQL and COMBO: lower values off the data, raise them on it."""

from dataclasses import dataclass
from typing import ClassVar, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Float

from countmorl.agents.heads import pair_value
from countmorl.agents.sac import SAC
from countmorl.agents.terms import AbstractCriticTerm
from countmorl.configs import at_least, check_types, finite, positive
from countmorl.nets import MLP, adam
from countmorl.types import Key, Metrics, Transition

AT_ONCE = 5
"""Actions judged at once: more of them leave the processor's cache, and take longer each."""


@dataclass(frozen=True, kw_only=True)
class ConservativeConfig:
    """How strongly values are lowered off the data."""

    weight: float = 5.0
    """Weight of the term (w in CQL, beta in COMBO)."""
    temperature: float = 1.0
    """Temperature of the soft maximum over actions (T)."""
    actions: int = 10
    """Actions drawn of each kind: uniform, the policy's at s, the policy's at s'."""
    sampled: bool = True
    """Take the term's gradient at one action per state, drawn by its share in the soft maximum: the
    same on average as at all of them, in half of the time."""
    every: int = 4
    """Take the term at every such row of a batch (1: at all of them). Rows are drawn at random, so
    the term is the same on average; it is what an update costs most for."""
    threshold: float | None = None
    """Hold the gap between soft maximum and data at this value by a learned multiplier
    (Lagrange); default: a fixed weight."""
    threshold_rate: float = 3e-4
    """Step size of Adam for the multiplier's logarithm."""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, weight=0, actions=1, every=1)
        positive(self, "temperature", "threshold_rate")
        finite(self, "threshold")


class Conservative(AbstractCriticTerm):
    """w [ T mean_s logsumexp_j(q_j / T) - mean_data Q(s, a) ], for each critic.

    j runs over 3 x `actions` values, each Q(s, a_j) minus the log-density its action was drawn
    with: uniform actions, actions of the policy at s, and actions of the policy at s', all three
    judged at s. The densities are constants, so the term moves the critics alone. The critics'
    target goes without entropy, as in all public code.
    """

    soft_backup: ClassVar[bool] = False

    log_multiplier: Float[Array, ""]
    multiplier_opt: optax.OptState
    config: ConservativeConfig = eqx.field(static=True)
    pushed_up: int | None = eqx.field(static=True)
    """Rows at the front of a batch that are real, and whose values are raised; None for all."""
    pushed_down_from: int = eqx.field(static=True)
    """First row of a batch at whose state values are lowered."""

    @classmethod
    def make(
        cls, config: ConservativeConfig, *, pushed_up: int | None = None, pushed_down_from: int = 0
    ) -> "Conservative":
        """Begin with a multiplier of 1."""
        none = jnp.zeros(())
        opt = optax.adam(config.threshold_rate).init(none)
        return cls(none, opt, config, pushed_up, pushed_down_from)

    def __call__(
        self, critics: MLP, agent: SAC, batch: Transition, *, key: Key
    ) -> tuple[Float[Array, ""], Metrics]:
        """The term, summed over the critics."""
        config = self.config
        # The same real rows are raised and lowered: what their values have in common cancels out.
        first = -(-self.pushed_down_from // config.every) * config.every
        lowered = jax.tree.map(lambda leaf: leaf[first :: config.every], batch)
        real = jax.tree.map(lambda leaf: leaf[: self.pushed_up : config.every], batch)
        high = self.soft_maximum(critics, agent, lowered, key=key).mean(axis=-1)
        on_data = agent.head.q(critics, real.obs, real.action).mean(axis=-1)
        gap = config.weight * (high - on_data)
        facts = {"conservative_gap": gap.mean()}
        if config.threshold is None:
            return gap.sum(), facts
        multiplier = multiplier_of(self.log_multiplier)
        return multiplier * jnp.sum(gap - config.threshold), facts | {"multiplier": multiplier}

    def soft_maximum(
        self, critics: MLP, agent: SAC, batch: Transition, *, key: Key
    ) -> Float[Array, "critics batch"]:
        """T logsumexp_j(q_j / T) at each state. Discrete actions are listed, not drawn."""
        heat = self.config.temperature
        values, action = agent.head.all_values(critics, batch.obs), None
        if values is None:
            still = jax.lax.stop_gradient(critics) if self.config.sampled else critics
            values, action = self.off_data(still, agent, batch, key=key)
        high = heat * jax.nn.logsumexp(values / heat, axis=0)
        if action is None or not self.config.sampled:
            return high
        # The gradient of the soft maximum is the mean of dQ_j over j drawn by softmax(q / T).
        drawn = jr.categorical(jr.fold_in(key, 3), values / heat, axis=0)
        chosen = jnp.take_along_axis(action[:, None], drawn[None, ..., None], axis=0)[0]
        own = jax.vmap(pair_value, (0, None, 0))(critics, batch.obs, chosen)
        return high + own - jax.lax.stop_gradient(own)

    def off_data(
        self, critics: MLP, agent: SAC, batch: Transition, *, key: Key
    ) -> tuple[Float[Array, "actions critics batch"], Float[Array, "actions batch action"]]:
        """Q(s, a_j) - log density(a_j) for all three kinds of actions, and the actions."""
        uniform_key, here_key, next_key = jr.split(key, 3)
        shape = (self.config.actions, *batch.action.shape)
        uniform = jr.uniform(uniform_key, shape, minval=-1.0, maxval=1.0)
        density = jnp.full(shape[:2], shape[-1] * jnp.log(0.5))
        drawn = [(uniform, density)]
        for obs, kind_key in ((batch.obs, here_key), (batch.next_obs, next_key)):
            policy = agent.distribution(agent.state.actor, obs)
            keys = jr.split(kind_key, self.config.actions)
            drawn.append(jax.vmap(lambda k, of=policy: of.sample(key=k))(keys))
        action, log_density = (jnp.concatenate(parts) for parts in zip(*drawn, strict=True))
        judge = lambda each: agent.head.q(critics, batch.obs, each)  # noqa: E731
        values = jax.lax.map(judge, action, batch_size=AT_ONCE) - log_density[:, None]
        return values, action

    def learned(self, facts: Metrics) -> Self:
        """Raise the multiplier while the gap is above the threshold."""
        if self.config.threshold is None:
            return self
        excess = facts["conservative_gap"] - self.config.threshold
        gradient = -excess * jax.grad(multiplier_of)(self.log_multiplier)
        rate, opt = self.config.threshold_rate, self.multiplier_opt
        new = adam(rate, gradient, opt, self.log_multiplier)
        return eqx.tree_at(lambda term: (term.log_multiplier, term.multiplier_opt), self, new)


def multiplier_of(log_multiplier: Float[Array, ""]) -> Float[Array, ""]:
    """The learned multiplier, which never exceeds a million."""
    return jnp.minimum(jnp.exp(log_multiplier), 1e6)
