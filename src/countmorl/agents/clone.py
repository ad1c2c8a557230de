"""A quick clone of whoever logged the data, and how much of what they did can be told."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl import trees
from countmorl.agents.bc import BCAgent
from countmorl.data.dataset import Dataset
from countmorl.nets import CosineDecay
from countmorl.scaling import Standardizer
from countmorl.types import Key, Transition

HIDDEN, RATE, BATCH = (256, 256), 1e-3, 256
HELD, SAMPLE = 0.1, 20_000
"""Share of the rows that a clone is judged on and has not seen, and how many at the most."""
LEAST_CHANCE = 0.02
"""The least share of the actions that is taken for chance, so that no ratio to it is endless."""


def cloned(dataset: Dataset, *, updates: int, seed: int) -> BCAgent:
    """Clone the behaviour, from all rows."""
    rows = jax.tree.map(jnp.asarray, dataset.transitions("all"))
    return _cloned(dataset, rows, updates, seed)


def told_by_state(dataset: Dataset, *, updates: int, seed: int) -> float:
    """How much of the logged actions the observation tells, in relation to what is chance.

    The share of their variance that a clone explains on rows it has not seen, divided by the share
    that it leaves: 0 where actions have nothing to do with observations, large where one steady
    behaviour made the log. Discrete actions are ones and zeros here, and the clone's chances.
    """
    rows = jax.tree.map(jnp.asarray, dataset.transitions("all"))
    order = np.random.default_rng(seed).permutation(len(rows.reward))
    held = order[: max(1, min(SAMPLE, int(HELD * len(order))))]
    unseen, seen = (trees.take(rows, jnp.asarray(part)) for part in (held, order[len(held) :]))
    clone = _cloned(dataset, seen, updates, seed)
    left = float(jnp.mean(jnp.square(clone.expected(unseen.obs) - unseen.action)))
    whole = float(jnp.mean(jnp.var(unseen.action, axis=0)))
    chance = float(np.clip(left / whole, LEAST_CHANCE, 1.0)) if whole > 0 else LEAST_CHANCE
    return (1 - chance) / chance


def _cloned(dataset: Dataset, rows: Transition, updates: int, seed: int) -> BCAgent:
    make_key, fit_key = jr.split(jr.key(seed))
    agent = BCAgent.make(
        Standardizer.fit(dataset.obs),
        (dataset.obs_dim, *HIDDEN, dataset.action_dim),
        schedule=CosineDecay(RATE, updates),
        discrete=dataset.discrete,
        key=make_key,
    )
    return _fit(agent, rows, updates, fit_key)


@eqx.filter_jit
def _fit(agent: BCAgent, data: Transition, updates: int, key: Key) -> BCAgent:
    def step(agent: BCAgent, step_key: Key) -> tuple[BCAgent, None]:
        rows = jr.randint(step_key, (BATCH,), 0, len(data.reward))
        return agent.update(trees.take(data, rows), key=step_key)[0], None

    return jax.lax.scan(step, agent, jr.split(key, updates))[0]
