"""The compiled epoch: the only place where gradient steps happen."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

from countmorl import trees
from countmorl.agents.base import AbstractAgent
from countmorl.types import Key, Metrics, Transition


class Frozen(eqx.Module):
    """What an epoch reads and never changes. It is an argument: a closure would bake it in."""

    data: Transition
    updates: int = eqx.field(static=True)
    batch: int = eqx.field(static=True)


@eqx.filter_jit(donate="all-except-first")
def epoch(frozen: Frozen, agent: AbstractAgent, key: Key) -> tuple[AbstractAgent, Metrics]:
    """`updates` steps of the agent on random batches; metrics are averaged over them."""
    rows = len(frozen.data.reward)

    def step(agent: AbstractAgent, step_key: Key) -> tuple[AbstractAgent, Metrics]:
        batch_key, learn_key = jr.split(step_key)
        batch = trees.take(frozen.data, jr.randint(batch_key, (frozen.batch,), 0, rows))
        return agent.update(batch, key=learn_key)

    agent, metrics = jax.lax.scan(step, agent, jr.split(key, frozen.updates))
    return agent, trees.mean(metrics)


def freeze(data: Transition, *, updates: int, batch: int) -> Frozen:
    """Put the data on the device."""
    return Frozen(Transition(*(jnp.asarray(field) for field in data)), updates, batch)
