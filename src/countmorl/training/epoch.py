"""The compiled epoch: a rollout in the model where there is one, then gradient steps."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int

from countmorl import trees
from countmorl.agents.base import AbstractAgent
from countmorl.algorithms.adversary import AbstractAdversary, AdversaryState
from countmorl.buffer import RingBuffer
from countmorl.data.favoured import Favoured
from countmorl.rollouts import PenalizedModel, Sequences, rollout
from countmorl.types import Key, Metrics, Transition


class Imagination(eqx.Module):
    """How much is imagined: the model, the rollout's sizes, the model's share of a batch."""

    model: PenalizedModel
    horizon: int = eqx.field(static=True)
    branches: int = eqx.field(static=True)
    """Rollouts begun in one epoch (B)."""
    rows: int = eqx.field(static=True)
    """Rows of a batch that come from the model."""
    going_on: int = eqx.field(static=True, default=0)
    """Rollouts that go on from where the last epoch's ended; the others begin in the data."""
    adversary: AbstractAdversary | None = None
    """What changes the model after each epoch."""
    sequences: Sequences | None = None
    """What was logged of the numbers that no action can influence."""


class Frozen(eqx.Module):
    """What an epoch reads and never changes. It is an argument: a closure would bake it in."""

    data: Transition
    updates: int = eqx.field(static=True)
    batch: int = eqx.field(static=True)
    imagination: Imagination | None = None
    favoured: Favoured | None = None
    """Episodes that rows are drawn from, some more often than others; None: all rows alike."""

    def draw(self, count: int, *, key: Key) -> Int[Array, " {count}"]:
        """Draw logged rows, with replacement."""
        if self.favoured is None:
            return jr.randint(key, (count,), 0, len(self.data.reward))
        episode_key, row_key = jr.split(key)
        chances, first, length = self.favoured
        drawn = jnp.searchsorted(chances, jr.uniform(episode_key, (count,)), side="right")
        drawn = jnp.minimum(drawn, len(chances) - 1)  # Rounding may leave the last sum below 1.
        return first[drawn] + jr.randint(row_key, (count,), 0, length[drawn])


class Best(eqx.Module):
    """The agent that was judged best so far."""

    agent: AbstractAgent
    value: Float[Array, ""]
    since: Int[Array, ""]
    """Evaluations since then."""


class PolicyState(eqx.Module):
    """What an epoch changes."""

    agent: AbstractAgent
    buffer: RingBuffer | None
    adversary: AdversaryState | None = None
    """What an adversary has made of the model, where there is one."""
    best: Best | None = None
    """What is kept where a run ends by what its policies are judged to be worth."""


@eqx.filter_jit(donate="all-except-first")
def epoch(frozen: Frozen, state: PolicyState, key: Key) -> tuple[PolicyState, Metrics]:
    """One rollout into the buffer, then `updates` steps of the agent on mixed batches.

    The agent's metrics are averaged over the steps, the rollout's are given by step of it. An
    adversary, where there is one, then takes its steps.
    """
    rollout_key, update_key = jr.split(key)
    buffer, facts = imagine(frozen, state, key=rollout_key)

    def step(agent: AbstractAgent, step_key: Key) -> tuple[AbstractAgent, Metrics]:
        batch_key, learn_key = jr.split(step_key)
        return agent.update(mixed_batch(frozen, buffer, key=batch_key), key=learn_key)

    agent, metrics = jax.lax.scan(step, state.agent, jr.split(update_key, frozen.updates))
    adversary, more = turn_model(frozen, state, agent, key=jr.fold_in(key, 2))
    return PolicyState(agent, buffer, adversary), trees.mean(metrics) | facts | more


def turn_model(
    frozen: Frozen, state: PolicyState, agent: Any, *, key: Key
) -> tuple[AdversaryState | None, Metrics]:
    """Let the adversary change the model."""
    plan = frozen.imagination
    if plan is None or plan.adversary is None or state.adversary is None:
        return None, {}
    return plan.adversary.update(state.adversary, plan.model, agent, frozen.data.obs, key=key)


def imagine(frozen: Frozen, state: PolicyState, *, key: Key) -> tuple[RingBuffer | None, Metrics]:
    """Roll the policy out and keep what happens.

    Rollouts begin at random logged observations, or go on from where the last ones ended, unless
    that was an end or far from all data.
    """
    plan = frozen.imagination
    if plan is None or state.buffer is None:
        return None, {}
    start_key, roll_key = jr.split(key)
    rows = frozen.draw(plan.branches, key=start_key)
    start, facts = frozen.data.obs[rows], {}
    if plan.going_on:
        further_key = jr.fold_in(start_key, 1)
        last, alive, followed = state.buffer.latest(plan.going_on, plan.horizon, key=further_key)
        alive &= near(last.next_obs, frozen.data.obs)
        further = jnp.where(alive[:, None], last.next_obs, start[: plan.going_on])
        start = start.at[: plan.going_on].set(further)
        if followed is not None:
            rows = rows.at[: plan.going_on].set(jnp.where(alive, followed, rows[: plan.going_on]))
        facts["continued"] = alive.sum(dtype=jnp.float32) / plan.branches
    model = state.adversary.inside(plan.model) if state.adversary else plan.model
    follow: dict[str, Any] = {}
    if plan.sequences is not None:
        follow = {"sequences": plan.sequences, "rows": rows}
    if model.pessimism.looks_ahead:
        agent: Any = state.agent
        follow["value"] = agent.worth_before
    rolled = rollout(model, state.agent.act, start, plan.horizon, **follow, key=roll_key)
    facts = {f"rollout_{name}": value for name, value in (facts | rolled.facts).items()}
    return state.buffer.add(rolled.steps, rolled.live, rolled.rows), facts


def near(obs: Float[Array, "batch obs"], data: Float[Array, "rows obs"]) -> Bool[Array, " batch"]:
    """Whether observations lie within the data's range, a tenth of it added on either side.

    A model that is asked again and again where it knows nothing may explode.
    """
    low, high = data.min(axis=0), data.max(axis=0)
    margin = 0.1 * (high - low)
    return ((obs >= low - margin) & (obs <= high + margin)).all(axis=-1)


def mixed_batch(frozen: Frozen, buffer: RingBuffer | None, *, key: Key) -> Transition:
    """Real rows first, then imagined ones; a model-free batch is all real."""
    real_key, model_key = jr.split(key)
    imagined = frozen.imagination.rows if frozen.imagination else 0
    rows = frozen.draw(frozen.batch - imagined, key=real_key)
    real = trees.take(frozen.data, rows)
    if buffer is None:
        return real
    return trees.concat(real, buffer.sample(imagined, key=model_key))


def on_device(data: Transition) -> Transition:
    """Put logged steps on the device."""
    return Transition(*(jnp.asarray(field) for field in data))
