"""How far a fitted model's mean is from the log, by column and by step of a rollout.

python -m benchmarks.model_error RUN DATA: the run's own elites follow logged actions from 2,000
logged observations; errors are divided by each column's deviation in the log.
"""

from __future__ import annotations

import sys

import numpy as np

from countmorl import load
from countmorl.files import Arrays, read_arrays
from countmorl.runs.folder import Run

STARTS, STEPS = 2000, 10


def swish(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-np.clip(x, -60, 60)))


def normalized(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)


def means(arrays: Arrays, x: np.ndarray) -> np.ndarray:
    """The elites' mean prediction in the log's units, averaged over them."""
    x = (x - arrays[".standardizer.mean"]) / arrays[".standardizer.std"]
    layers = sum(name.startswith(".members.weights") for name in arrays)
    predicted = []
    for elite in arrays[".elites"]:
        h = x
        for i in range(layers):
            h = h @ arrays[f".members.weights[{i}]"][elite] + arrays[f".members.biases[{i}]"][elite]
            if f".members.gains[{i}]" in arrays:  # Hidden layers of a model with --model.norm.
                h = arrays[f".members.gains[{i}]"][elite] * normalized(h)
            h = swish(h) if i < layers - 1 else h
        predicted.append(h[:, : h.shape[1] // 2])
    mean = np.mean(predicted, axis=0)
    if ".targets.mean" not in arrays:  # Models of versions that predicted raw changes.
        return mean
    return mean * arrays[".targets.std"] + arrays[".targets.mean"]


def errors(run: str, data: str) -> tuple[np.ndarray, np.ndarray]:
    """Error of one step by column (the reward last), and of the observation by step."""
    arrays, _ = read_arrays(Run.open(run).path / "stages" / "model.safetensors")
    log = load(data)
    scale = np.append(log.obs.std(axis=0), log.reward.std())
    action, ends = log.space.scaled(log.action), log.episode_ends
    left = ends[np.searchsorted(ends, np.arange(len(log)))] - np.arange(len(log))
    rng = np.random.default_rng(0)
    start = rng.choice(np.flatnonzero(left >= STEPS), STARTS, replace=False)
    obs, by_step, first = log.obs[start], [], np.empty(0)
    for step in range(STEPS):
        row = start + step
        drawn = means(arrays, np.concatenate([obs, action[row]], axis=1))
        obs = obs + drawn[:, :-1]
        off = np.append(obs - log.next_obs[row], (drawn[:, -1] - log.reward[row])[:, None], axis=1)
        each = np.sqrt(np.mean(np.square(off / scale), axis=0))
        first = each if step == 0 else first
        by_step.append(np.sqrt(np.mean(np.square(each[:-1]))))
    return first, np.array(by_step)


if __name__ == "__main__":
    by_column, by_step = errors(*sys.argv[1:3])
    print("one step, by column:", " ".join(f"{e:.3f}" for e in by_column))
    print("by step:            ", " ".join(f"{e:.3f}" for e in by_step))
