"""Gymnasium environments: made, checked, played in, recorded."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from countmorl.envs.gridworld import PREFIX, register_worlds
from countmorl.envs.tasks import Task, is_imported
from countmorl.errors import ConfigError, RunError
from countmorl.extras import installed, require
from countmorl.runtime.base import Sized
from countmorl.spaces import ActionSpace

Act = Callable[[np.ndarray], np.ndarray]
"""A batch of observations to a batch of actions."""


def make_env(env_id: str) -> Any:
    """Make one environment; what is unusable is refused in a sentence."""
    gymnasium = require("gymnasium")
    _keep_mujoco_quiet()
    if env_id.startswith(PREFIX):
        register_worlds()
    if not is_imported(env_id.rpartition(":")[0]):
        raise ConfigError(
            f"For the environment '{env_id}' a module would be imported, and no file alone makes "
            "code run. If you trust it, name it yourself: --task on the command line, or import it."
        )
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            # The -v4 environments are old on purpose: D4RL's scores are defined on them.
            warnings.simplefilter("ignore", DeprecationWarning)
            env = gymnasium.make(env_id)
    except (gymnasium.error.Error, ImportError, ValueError, TypeError) as error:
        raise ConfigError(
            f"The environment '{env_id}' could not be made: {error} "
            'For MuJoCo tasks: pip install "countmorl[mujoco]"'
        ) from error
    if isinstance(env.observation_space, gymnasium.spaces.Discrete):
        env = _numbered(env)
    flat = isinstance(env.observation_space, gymnasium.spaces.Box)
    if not flat or len(env.observation_space.shape) != 1:
        raise ConfigError(f"'{env_id}' has observations {env.observation_space}; wanted a vector.")
    ActionSpace.of(env)
    return env


def _numbered(env: Any) -> Any:
    """States that are numbers, as observations of one number, which is how logs hold them."""
    gymnasium = require("gymnasium")
    first = float(env.observation_space.start)
    last = first + float(env.observation_space.n) - 1
    space = gymnasium.spaces.Box(first, last, (1,), np.float32)
    return gymnasium.wrappers.TransformObservation(env, lambda s: np.array([s], np.float32), space)


def _keep_mujoco_quiet() -> None:
    """MuJoCo writes every warning to MUJOCO_LOG.TXT in the working folder; keep that clean."""
    if installed("mujoco"):
        require("mujoco").set_mju_user_warning(lambda message: None)


def unlimited(env: Any) -> Any:
    """Take an environment's time limit off: its episodes end where the task itself does."""
    limit = require("gymnasium").wrappers.TimeLimit
    if isinstance(env, limit):
        return env.env
    inner = env
    while hasattr(inner, "env"):
        if isinstance(inner.env, limit):
            inner.env = inner.env.env
        inner = inner.env
    return env


def check_fit(policy: Sized, env: Any, task: Task, ours: str = "The policy") -> None:
    """Raise where the sizes of a policy are not those of an environment."""
    space, obs_dim = ActionSpace.of(env), env.observation_space.shape[0]
    if (obs_dim, space.size) != (policy.obs_dim, policy.action_dim):
        raise RunError(
            f"{ours} takes {policy.obs_dim} numbers and gives {policy.action_dim}, but "
            f"{task.env_id} has {obs_dim} and {space.size}. Give the task it was trained for."
        )
    if space.discrete != policy.discrete:
        kinds = {True: "one of several actions", False: "a vector of numbers"}
        raise RunError(
            f"{ours} gives {kinds[policy.discrete]}, but {task.env_id} takes "
            f"{kinds[space.discrete]}. Give the task it was trained for."
        )


def play(act: Act, envs: list[Any], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play one episode in each environment, with one call of the policy for all of them.

    Returns and lengths; episode i starts from a state that `seed` and i alone decide.
    """
    seeds = np.random.SeedSequence(seed).generate_state(len(envs))
    obs = np.stack([env.reset(seed=int(s))[0] for env, s in zip(envs, seeds, strict=True)])
    returns, lengths = np.zeros(len(envs)), np.zeros(len(envs), int)
    playing = np.arange(len(envs))
    while len(playing):
        # Always the whole batch: a policy's rounding may depend on the batch's size, and an
        # episode must not depend on how long the others last.
        actions = act(obs)
        over = np.zeros(len(envs), bool)
        for index in playing:
            obs[index], reward, terminated, truncated, _ = envs[index].step(actions[index])
            returns[index] += reward
            lengths[index] += 1
            over[index] = terminated or truncated
        playing = playing[~over[playing]]
    return returns, lengths


def record(act: Act, env: Any, *, rows: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield `rows` steps (obs, action, reward, next_obs, terminated, truncated) in order."""
    obs, _ = env.reset(seed=seed)
    for _ in range(rows):
        action = act(obs)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        yield obs, action, reward, next_obs, terminated, truncated and not terminated
        obs = env.reset()[0] if terminated or truncated else next_obs
