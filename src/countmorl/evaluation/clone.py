"""A quick clone of whoever logged the data: what an estimate of the log itself is checked by."""

from __future__ import annotations

import numpy as np

from countmorl.agents import clone
from countmorl.data.dataset import Dataset
from countmorl.runtime.policy import Policy


def cloned(dataset: Dataset, *, updates: int, seed: int) -> Policy:
    """Imitate the logged actions for a while."""
    return clone.cloned(dataset, updates=updates, seed=seed).policy(dataset.space, {})


def chances(policy: Policy, obs: np.ndarray) -> np.ndarray:
    """pi(a | s) of a policy that chooses among discrete actions, [n, actions]."""
    x = (obs - policy.obs_mean) / policy.obs_std
    for weight, bias in zip(policy.weights[:-1], policy.biases[:-1], strict=True):
        x = np.maximum(x @ weight + bias, 0)
    y = x @ policy.weights[-1] + policy.biases[-1]
    weights = np.exp(y - y.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
