"""RAMBO's adversary: model steps against the policy's value, held near the data."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Bool, Float, Int

from countmorl import trees
from countmorl.agents.base import AbstractActorCritic
from countmorl.configs import at_least, check_types, positive
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.nets import adam
from countmorl.rollouts import PenalizedModel
from countmorl.types import Key, Metrics, Transition


class AdversaryState(eqx.Module):
    """What the adversary has made of the model: its elites, and their optimiser."""

    elites: GaussianNet
    opt_state: optax.OptState

    def inside(self, model: PenalizedModel) -> PenalizedModel:
        """The same model with these elites, and no other members."""
        return eqx.tree_at(lambda m: m.ensemble, model, model.ensemble.of_elites(self.elites))


class AbstractAdversary(eqx.Module):
    """Changes the model once per epoch, after the policy's updates."""

    @abstractmethod
    def start(self, model: PenalizedModel) -> AdversaryState:
        """The state before the first epoch."""

    @abstractmethod
    def update(
        self,
        state: AdversaryState,
        model: PenalizedModel,
        agent: AbstractActorCritic,
        obs: Array,
        *,
        key: Key,
    ) -> tuple[AdversaryState, Metrics]:
        """Go on by one epoch; `obs` are the logged observations that rollouts begin from."""


@dataclass(frozen=True, kw_only=True)
class AdversaryConfig:
    """How the model is turned against the policy."""

    weight: float = 3e-4
    """Weight of the adversarial part (lambda); 0 leaves the model as it was fitted."""
    rate: float = 3e-4
    """Step size of Adam."""
    steps: int = 1000
    """Model steps in one epoch."""
    batch: int = 256
    """Rows of one step: imagined ones, and for each elite its own real ones."""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, weight=0, steps=1, batch=1)
        positive(self, "rate")


class Adversary(AbstractAdversary):
    """Minimise sum_i NLL_i(data) + lambda mean[ A log p(s', r | s, a) ] over imagined steps.

    p is the elites' equal mixture; A is the agent's advantage, standardised
    over the batch. Samples and A are constants; every elite fits the data, and the
    other members, which no rollout asks, are left alone.
    """

    x: Float[Array, "rows inputs"]
    y: Float[Array, "rows targets"]
    config: AdversaryConfig = eqx.field(static=True)
    decays: tuple[float, ...] = eqx.field(static=True)
    horizon: int = eqx.field(static=True)

    def start(self, model: PenalizedModel) -> AdversaryState:
        """The fitted elites with a fresh optimiser."""
        elites = model.ensemble.elite_members
        return AdversaryState(elites, optax.adam(self.config.rate).init(elites))  # type: ignore[arg-type]

    def update(
        self,
        state: AdversaryState,
        model: PenalizedModel,
        agent: AbstractActorCritic,
        obs: Array,
        *,
        key: Key,
    ) -> tuple[AdversaryState, Metrics]:
        """Roll `horizon` steps from logged states, again and again; one model step at each."""

        def step(carry: tuple[AdversaryState, Array], at: tuple[Array, Key]) -> tuple[Any, Metrics]:
            state, here = carry
            index, step_key = at
            start_key, act_key, model_key, data_key = jr.split(step_key, 4)
            fresh = obs[jr.randint(start_key, (self.config.batch,), 0, len(obs))]
            here = jnp.where(index % self.horizon == 0, fresh, here)
            now = state.inside(model)
            lived, _ = now.step(here, agent.act(here, key=act_key), key=model_key)
            lived, fine = without_explosions(lived)
            change = model.layout.changes(here, lived.next_obs)
            drawn = jnp.concatenate([change, lived.reward[:, None]], axis=1)
            drawn = now.ensemble.targets(drawn)
            pair = now.ensemble.standardize(here, lived.action)
            gain = jnp.where(fine, agent.advantage(lived), 0.0)
            pick = jr.randint(data_key, (len(now.ensemble.elites), len(here)), 0, len(self.x))

            slope = jax.grad(self.loss, has_aux=True)
            gradient, facts = slope(state.elites, pick, pair, drawn, gain)
            change = adam(self.config.rate, gradient, state.opt_state, state.elites)
            return (AdversaryState(*change), lived.next_obs), facts

        keys = jr.split(key, self.config.steps)
        first = jnp.zeros((self.config.batch, obs.shape[1]))
        (state, _), facts = jax.lax.scan(step, (state, first), (jnp.arange(len(keys)), keys))
        return state, trees.mean(facts)

    def loss(
        self,
        elites: GaussianNet,
        rows: Int[Array, "elites rows"],
        pair: Float[Array, "batch inputs"],
        drawn: Float[Array, "batch targets"],
        gain: Float[Array, " batch"],
    ) -> tuple[Float[Array, ""], Metrics]:
        """What is minimised: each elite's fit of its own `rows`, and `gain` on what was drawn."""
        fit = jax.vmap(lambda m, p: m.loss(self.x[p], self.y[p], self.decays))(elites, rows)
        against = jnp.mean(gain * mixture_log_prob(elites, pair, drawn))
        facts = {"model_loss": fit.mean(), "adversary": against}
        return fit.sum() + self.config.weight * against, facts


def without_explosions(lived: Transition) -> tuple[Transition, Bool[Array, " batch"]]:
    """Steps to numbers that are not finite become steps on the spot; say which are fine."""
    fine = jnp.isfinite(lived.next_obs).all(axis=-1) & jnp.isfinite(lived.reward)
    next_obs = jnp.where(fine[:, None], lived.next_obs, lived.obs)
    return lived._replace(next_obs=next_obs, reward=jnp.where(fine, lived.reward, 0.0)), fine


def mixture_log_prob(
    members: GaussianNet,
    pair: Float[Array, "batch inputs"],
    drawn: Float[Array, "batch targets"],
) -> Float[Array, " batch"]:
    """log (1/K) sum_k N(drawn; mu_k, sigma_k), jointly over all targets."""

    def one(member: GaussianNet) -> Float[Array, " batch"]:
        mean, log_var = member.head(member.trunk(pair))
        square = jnp.square(drawn - mean) * jnp.exp(-log_var)
        return -0.5 * jnp.sum(square + log_var + jnp.log(2 * jnp.pi), axis=-1)

    each = jax.vmap(one)(members)
    return jax.nn.logsumexp(each, axis=0) - jnp.log(float(len(each)))
