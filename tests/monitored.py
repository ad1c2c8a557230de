"""A small log whose columns, episodes and drifts are known, for what watches logs."""

import numpy as np

from countmorl import load
from countmorl.data.dataset import Dataset


def walks(episodes: int = 60, length: int = 20, seed: int = 0, **changes: float) -> dict:
    """s' = 0.9 s + 0.1 a + noise, r = s; every episode has a level of its own."""
    pull, gain = changes.get("pull", 0.1), changes.get("shift", 0.0)
    rng = np.random.default_rng(seed)
    action = rng.uniform(-1, 1, (episodes, length)) * changes.get("wide", 1.0)
    state = np.zeros((episodes, length + 1))
    state[:, 0] = rng.standard_normal(episodes)
    for t in range(length):
        noise = 0.1 * rng.standard_normal(episodes)
        state[:, t + 1] = 0.9 * state[:, t] + pull * action[:, t] + noise
    last = np.zeros((episodes, length), bool)
    last[:, -1] = True
    seen = changes.get("unit", 1.0) * state + gain
    other = rng.standard_normal((episodes, length + 1))
    return {
        "obs": np.stack([seen[:, :-1].ravel(), other[:, :-1].ravel()], 1).astype(np.float32),
        "next_obs": np.stack([seen[:, 1:].ravel(), other[:, 1:].ravel()], 1).astype(np.float32),
        "action": action.reshape(-1, 1).astype(np.float32),
        "reward": (state[:, :-1].ravel() + changes.get("bonus", 0.0)).astype(np.float32),
        "truncated": last.ravel(),
    }


def dataset(**changes: float) -> Dataset:
    """The same, loaded."""
    return load(walks(**changes))
