"""Collect a dataset: roll a policy in an environment and keep every step."""

from __future__ import annotations

from typing import Any

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.envs.simulate import Act, check_fit, make_env, record
from countmorl.envs.tasks import Task
from countmorl.errors import ConfigError
from countmorl.policy import Policy
from countmorl.progress import count_progress

COLUMNS = ("obs", "action", "reward", "next_obs", "terminated", "truncated")


def collect(
    task: Task,
    policy: Policy | None = None,
    *,
    rows: int,
    seed: int = 0,
    deterministic: bool = False,
    name: str | None = None,
) -> Dataset:
    """Record `rows` steps of `policy` (uniformly random actions without one)."""
    if rows < 1:
        raise ConfigError(f"`rows` must be at least 1, got {rows}.")
    if not 0 <= seed < 2**31:
        raise ConfigError(f"`seed` must be from 0 to 2147483647, got {seed}.")
    env = make_env(task.env_id)
    if policy is not None:
        check_fit(policy, env, task)
    act = _actor(policy, env, np.random.default_rng(seed), deterministic)
    table = _table(rows, env.observation_space.shape[0], env.action_space.shape[0])
    label = name or f"{task.name}-{'policy' if policy else 'random'}"
    with count_progress(f"collecting {label}", rows) as tell:
        for row, step in enumerate(record(act, env, rows=rows, seed=seed)):
            for key, value in zip(COLUMNS, step, strict=True):
                table[key][row] = value
            if row % 1000 == 999:
                tell(1000)
    env.close()
    bounds = {"action_low": env.action_space.low, "action_high": env.action_space.high}
    return Dataset.of(Fields.of({**table, **bounds}, name=label, task=task))


def _actor(policy: Policy | None, env: Any, rng: np.random.Generator, deterministic: bool) -> Act:
    low, high = env.action_space.low, env.action_space.high
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ConfigError(f"The actions of {env.spec.id} are unbounded; wanted finite bounds.")
    if policy is None:
        return lambda obs: rng.uniform(low, high).astype(np.float32)
    return lambda obs: policy.act(obs, rng=None if deterministic else rng)


def _table(rows: int, obs_dim: int, action_dim: int) -> dict[str, np.ndarray]:
    shapes = ((obs_dim,), (action_dim,), (), (obs_dim,), (), ())
    types = (np.float32,) * 4 + (bool,) * 2
    return {
        key: np.empty((rows, *shape), dtype)
        for key, shape, dtype in zip(COLUMNS, shapes, types, strict=True)
    }
