"""Rollouts of a policy in the learned, pessimistic model: one scan over the horizon."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, Shaped

from countmorl import trees
from countmorl.data.dataset import Dataset, RowKind
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.known_reward import KnownReward
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.termination import AbstractTermination
from countmorl.pessimism import AbstractPessimism, Ahead, Lowered, Pairs
from countmorl.types import Key, Metrics, Transition

Act = Callable[..., Float[Array, "batch action"]]
Value = Callable[..., Float[Array, " batch"]]
"""From observations and a `key` to what they are worth one step before, in rewards: gamma V."""
Carry = tuple[Float[Array, "batch obs"], Bool[Array, " batch"], Int[Array, " batch"] | None]


class Sequences(eqx.Module):
    """What was logged of the numbers that no action can influence."""

    following: Float[Array, "rows exogenous"]
    """What they were after each logged step."""
    goes_on: Bool[Array, " rows"]
    """Whether the next row goes on from this one."""

    @classmethod
    def of(cls, dataset: Dataset, rows: RowKind) -> "Sequences | None":
        """The sequences of a dataset, in the order of its `transitions(rows)`."""
        places = dataset.schema.exogenous_numbers if dataset.schema else ()
        if not places:
            return None
        kept, known = dataset.transitions(rows), dataset.known_among(rows)
        # Rows that were left out are last ones, so what is kept of an episode lies together.
        return cls(
            jnp.asarray(kept.next_obs[:, places]), jnp.asarray(known & dataset.goes_on(rows))
        )


class PenalizedModel(eqx.Module):
    """The ensemble, its pessimism and its termination rule: what a policy is trained in."""

    ensemble: Ensemble
    pessimism: AbstractPessimism
    termination: AbstractTermination
    layout: Layout
    known_reward: KnownReward | None = None
    """What steps pay, where it need not be learned."""

    def step(
        self,
        obs: Float[Array, "batch obs"],
        action: Float[Array, "batch action"],
        outside: Float[Array, "batch exogenous"] | None = None,
        *,
        value: Value | None = None,
        key: Key,
    ) -> tuple[Transition, Lowered]:
        """Draw next observation and reward from one elite per row; lower the reward.

        `outside` are the next exogenous numbers, where there are such; `value` is for a pessimism
        that looks ahead.
        """
        route_key, noise_key, end_key = jr.split(key, 3)
        x = self.ensemble.standardize(obs, action)
        hidden = self.ensemble.trunks(x)
        mean, log_var = self.ensemble.routed_head(hidden, key=route_key)
        drawn = mean + jnp.exp(0.5 * log_var) * jr.normal(noise_key, mean.shape)
        next_obs, reward = self.following(obs, action, drawn, outside)
        ahead = None
        if self.pessimism.looks_ahead and value is not None:

            def worth(targets: Float[Array, "batch targets"], *, key: Key) -> Array:
                after, paid = self.following(obs, action, targets, outside)
                return paid + value(after, key=key)

            ahead = Ahead(worth, jr.fold_in(key, 3))
        lowered = self.pessimism(Pairs(self.ensemble, x, hidden, ahead))
        terminated = self.termination(obs, action, next_obs, key=end_key) | lowered.halt
        reward = reward - lowered.penalty
        if lowered.worth is not None:
            # Nothing is gained from what a model promises where it knows nothing.
            reward = jnp.where(lowered.halt, jnp.minimum(reward, lowered.worth), reward)
        step = Transition(obs, action, reward, next_obs, terminated)
        return step, lowered

    def following(
        self,
        obs: Float[Array, "batch obs"],
        action: Float[Array, "batch action"],
        drawn: Float[Array, "batch targets"],
        outside: Float[Array, "batch exogenous"] | None,
    ) -> tuple[Float[Array, "batch obs"], Float[Array, " batch"]]:
        """Next observation and reward, from standardised targets."""
        drawn = self.ensemble.targets.invert(drawn)
        next_obs, reward = self.layout.following(obs, action, drawn[:, :-1], outside), drawn[:, -1]
        if self.known_reward is not None:
            reward = self.known_reward(self.layout, obs, action, next_obs)
        return next_obs, reward


class Rolled(NamedTuple):
    """What a rollout has made."""

    steps: Transition
    """The first steps of all branches, then all second ones, and so on."""
    live: Bool[Array, " rows"]
    """Which of the steps are live."""
    facts: Metrics
    """Numbers by step of the rollout."""
    rows: Int[Array, " rows"] | None
    """The logged row that each step's next observation has its exogenous numbers from, plus 1;
    the sequence goes on there. -1 where it does not."""


def rollout(
    model: PenalizedModel,
    act: Act,
    start: Float[Array, "batch obs"],
    horizon: int,
    *,
    sequences: Sequences | None = None,
    rows: Int[Array, " batch"] | None = None,
    value: Value | None = None,
    key: Key,
) -> Rolled:
    """Roll `horizon` steps from each start.

    A branch ends at its first terminal step, which is still live; later steps of it are not. With
    `sequences`, exogenous numbers follow those of the logged `rows`, and a branch ends with them.
    `value` is asked by a pessimism that looks ahead.
    """

    def one(carry: Carry, step_key: Key) -> tuple[Carry, Any]:
        obs, alive, row = carry
        act_key, model_key = jr.split(step_key)
        outside = None
        if sequences is not None and row is not None:
            outside = sequences.following[row]
        action = act(obs, key=act_key)
        step, lowered = model.step(obs, action, outside, value=value, key=model_key)
        bounded = jnp.isfinite(step.next_obs).all(axis=-1) & jnp.isfinite(step.reward)
        live = alive & bounded  # A model that explodes must not poison the buffer.
        facts = {"penalty": lowered.penalty, "terminated": step.terminated.astype(jnp.float32)}
        # A dead branch stays where it is: its numbers are never used and must stay finite.
        next_obs = jnp.where(live[:, None], step.next_obs, obs)
        step = jax.tree.map(lambda leaf: _mask(live, leaf), step)
        going = live & ~step.terminated
        if sequences is not None and row is not None:
            row = jnp.where(sequences.goes_on[row], row + 1, -1)
            going &= row >= 0
        return (next_obs, going, row), (step, live, facts | lowered.facts, row)

    def block(begin: tuple[Array, Array | None], index: Int[Array, ""]) -> Any:
        first = (begin[0], jnp.ones(len(begin[0]), bool), begin[1])
        return jax.lax.scan(one, first, jr.split(jr.fold_in(key, index), horizon))[1]

    steps, live, facts, after = trees.in_blocks(block, (start, rows), axis=1)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), steps)
    after = None if after is None else after.reshape(-1)
    return Rolled(flat, live.reshape(-1), jax.vmap(summarize)(facts, live), after)


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
