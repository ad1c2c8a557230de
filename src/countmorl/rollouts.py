"""Rollouts of a policy in the learned, pessimistic model: one scan over the horizon."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, Shaped

from countmorl import trees
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.termination import AbstractTermination
from countmorl.pessimism import AbstractPessimism, Lowered, Pairs
from countmorl.types import Key, Metrics, Transition

Act = Callable[..., Float[Array, "batch action"]]
Carry = tuple[Float[Array, "batch obs"], Bool[Array, " batch"]]


class PenalizedModel(eqx.Module):
    """The ensemble, its pessimism and its termination rule: what a policy is trained in."""

    ensemble: Ensemble
    pessimism: AbstractPessimism
    termination: AbstractTermination

    def step(
        self, obs: Float[Array, "batch obs"], action: Float[Array, "batch action"], *, key: Key
    ) -> tuple[Transition, Lowered]:
        """Draw next observation and reward from one elite per row; lower the reward."""
        route_key, noise_key, end_key = jr.split(key, 3)
        x = self.ensemble.standardize(obs, action)
        hidden = self.ensemble.trunks(x)
        mean, log_var = self.ensemble.routed_head(hidden, key=route_key)
        drawn = mean + jnp.exp(0.5 * log_var) * jr.normal(noise_key, mean.shape)
        next_obs, reward = obs + drawn[:, :-1], drawn[:, -1]
        lowered = self.pessimism(Pairs(self.ensemble, x, hidden))
        terminated = self.termination(obs, action, next_obs, key=end_key) | lowered.halt
        step = Transition(obs, action, reward - lowered.penalty, next_obs, terminated)
        return step, lowered


def rollout(
    model: PenalizedModel,
    act: Act,
    start: Float[Array, "batch obs"],
    horizon: int,
    *,
    key: Key,
) -> tuple[Transition, Bool[Array, " {horizon}*batch"], Metrics]:
    """Roll `horizon` steps from each start; return all steps, which of them are live, and facts.

    A branch ends at its first terminal step, which is still live; later steps of it are not. The
    first steps of all branches come first, then all second ones; facts are given by step.
    """

    def one(carry: Carry, step_key: Key) -> tuple[Carry, Any]:
        obs, alive = carry
        act_key, model_key = jr.split(step_key)
        step, lowered = model.step(obs, act(obs, key=act_key), key=model_key)
        bounded = jnp.isfinite(step.next_obs).all(axis=-1) & jnp.isfinite(step.reward)
        live = alive & bounded  # A model that explodes must not poison the buffer.
        facts = {"penalty": lowered.penalty, "terminated": step.terminated.astype(jnp.float32)}
        # A dead branch stays where it is: its numbers are never used and must stay finite.
        next_obs = jnp.where(live[:, None], step.next_obs, obs)
        step = jax.tree.map(lambda leaf: _mask(live, leaf), step)
        return (next_obs, live & ~step.terminated), (step, live, facts | lowered.facts)

    def block(
        start: Float[Array, "batch obs"], index: Int[Array, ""]
    ) -> tuple[Transition, Bool[Array, "horizon batch"], Metrics]:
        first, keys = (start, jnp.ones(len(start), bool)), jr.split(jr.fold_in(key, index), horizon)
        return jax.lax.scan(one, first, keys)[1]

    steps, live, facts = trees.in_blocks(block, start, axis=1)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), steps)
    return flat, live.reshape(-1), jax.vmap(summarize)(facts, live)


def summarize(facts: dict[str, Float[Array, " batch"]], live: Bool[Array, " batch"]) -> Metrics:
    """Means over live rows; the median too where pairs were counted."""
    weight = live.astype(jnp.float32) / jnp.maximum(1.0, live.sum(dtype=jnp.float32))
    means = {name: jnp.sum(jnp.where(live, value, 0) * weight) for name, value in facts.items()}
    if "count" in facts:
        seen = jnp.where(live, facts["count"], jnp.nan)
        means["count_median"] = jnp.nan_to_num(jnp.nanmedian(seen))
    means["alive"] = live.mean(dtype=jnp.float32)
    return means


def _mask(
    live: Bool[Array, " batch"], leaf: Shaped[Array, "batch *rest"]
) -> Shaped[Array, "batch *rest"]:
    keep = live.reshape(-1, *(1,) * (leaf.ndim - 1))
    return jnp.where(keep, leaf, jnp.zeros((), leaf.dtype))
