"""A quick clone of whoever logged the data: what an estimate of the log itself is checked by."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl import trees
from countmorl.agents.bc import BCAgent
from countmorl.algorithms.bc import BC
from countmorl.data.dataset import Dataset
from countmorl.runtime.policy import Policy
from countmorl.types import Key, Transition


def cloned(dataset: Dataset, *, updates: int, seed: int) -> Policy:
    """Imitate the logged actions for a while."""
    algorithm = BC(epochs=1, updates=updates)
    make_key, fit_key = jr.split(jr.key(seed))
    agent = algorithm.agent(dataset, key=make_key)
    data = jax.tree.map(jnp.asarray, dataset.transitions("all"))
    return _cloned(agent, data, algorithm.batch, updates, fit_key).policy(dataset.space, {})


@eqx.filter_jit
def _cloned(agent: BCAgent, data: Transition, batch: int, updates: int, key: Key) -> BCAgent:
    def step(agent: BCAgent, step_key: Key) -> tuple[BCAgent, None]:
        rows = jr.randint(step_key, (batch,), 0, len(data.reward))
        return agent.update(trees.take(data, rows), key=step_key)[0], None

    return jax.lax.scan(step, agent, jr.split(key, updates))[0]


def chances(policy: Policy, obs: np.ndarray) -> np.ndarray:
    """pi(a | s) of a policy that chooses among discrete actions, [n, actions]."""
    x = (obs - policy.obs_mean) / policy.obs_std
    for weight, bias in zip(policy.weights[:-1], policy.biases[:-1], strict=True):
        x = np.maximum(x @ weight + bias, 0)
    y = x @ policy.weights[-1] + policy.biases[-1]
    weights = np.exp(y - y.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
