"""Collect a dataset: roll a policy in an environment and keep every step."""

from __future__ import annotations

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.envs.simulators import Act, check_fit, make_env, record
from countmorl.envs.tasks import Task
from countmorl.errors import ConfigError
from countmorl.progress import count_progress
from countmorl.runtime.base import PolicyLike
from countmorl.runtime.policy import BLOCK, Policy
from countmorl.runtime.tabular import TabularPolicy
from countmorl.spaces import ActionSpace

COLUMNS = ("obs", "action", "reward", "next_obs", "terminated", "truncated")


def collect(
    task: Task,
    policy: PolicyLike | None = None,
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
    space = ActionSpace.of(env)
    if policy is None and not space.bounded:
        raise ConfigError(f"The actions of {task.env_id} are unbounded; wanted finite bounds.")
    act = _actor(policy, space, np.random.default_rng(seed), deterministic)
    table = _table(rows, env.observation_space.shape[0], space)
    label = name or f"{task.name}-{'policy' if policy else 'random'}"
    with count_progress(f"collecting {label}", rows) as tell:
        for row, step in enumerate(record(act, env, rows=rows, seed=seed)):
            for key, value in zip(COLUMNS, step, strict=True):
                table[key][row] = value
            if row % 1000 == 999:
                tell(1000)
    env.close()
    known = _chances(policy, space, table, deterministic)
    return Dataset.of(Fields.of({**table, **known, **space.fields}, name=label, task=task))


def _actor(
    policy: PolicyLike | None, space: ActionSpace, rng: np.random.Generator, deterministic: bool
) -> Act:
    if policy is None:
        return lambda obs: space.draw(rng)
    return lambda obs: policy.act(obs, rng=None if deterministic else rng)


def _chances(
    policy: PolicyLike | None,
    space: ActionSpace,
    table: dict[str, np.ndarray],
    deterministic: bool,
) -> dict[str, np.ndarray]:
    """How likely each of the discrete actions was, where that is known."""
    action = table["action"]
    if not space.discrete:
        return {}
    if policy is None:
        return {"propensity": np.full(len(action), 1 / space.size, np.float32)}
    if deterministic:
        return {"propensity": np.ones(len(action), np.float32)}
    if not isinstance(policy, Policy | TabularPolicy):  # One of the user's own does not tell.
        return {}
    blocks = range(0, len(action), BLOCK)
    each = [policy.chances(table["obs"][at : at + BLOCK]) for at in blocks]
    taken = np.concatenate(each)[np.arange(len(action)), action]
    return {"propensity": taken.astype(np.float32)}


def _table(rows: int, obs_dim: int, space: ActionSpace) -> dict[str, np.ndarray]:
    obs, reward, flag = (rows, obs_dim), np.empty(rows, np.float32), np.empty(rows, bool)
    columns = (
        np.empty(obs, np.float32),
        space.empty(rows),
        reward,
        np.empty(obs, np.float32),
        flag,
        flag.copy(),
    )
    return dict(zip(COLUMNS, columns, strict=True))
