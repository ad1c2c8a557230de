"""A quick clone of whoever logged the data, and how much of what they did is chance."""

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

CLONE_EPOCHS = 3
"""Epochs of updates that a quick clone takes: it has to be like the data, not to be good."""
HIDDEN, RATE, BATCH = (256, 256), 1e-3, 256
HELD, SAMPLE = 0.1, 20_000
"""Share of the rows that a clone is judged on and has not seen, and how many at the most."""


def cloned(dataset: Dataset, *, updates: int, seed: int) -> BCAgent:
    """Clone the behaviour, from all rows."""
    rows = jax.tree.map(jnp.asarray, dataset.transitions("all"))
    return _cloned(dataset, rows, updates, seed)


def chance_of_actions(dataset: Dataset, *, updates: int, seed: int) -> float:
    """The share of the logged actions' variance that their observations do not tell.

    What a clone leaves unexplained on rows it has not seen: 1 where actions have nothing to do with
    observations, near 0 where one steady behaviour made the log. Discrete actions are ones and
    zeros here, and the clone's are chances.
    """
    rows = jax.tree.map(jnp.asarray, dataset.transitions("all"))
    order = np.random.default_rng(seed).permutation(len(rows.reward))
    held = order[: max(1, min(SAMPLE, int(HELD * len(order))))]
    unseen, seen = (trees.take(rows, jnp.asarray(part)) for part in (held, order[len(held) :]))
    clone = _cloned(dataset, seen, updates, seed)
    left = float(jnp.mean(jnp.square(clone.expected(unseen.obs) - unseen.action)))
    whole = float(jnp.mean(jnp.var(unseen.action, axis=0)))
    return min(1.0, left / whole) if whole > 0 else 0.0


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
