"""Run policies in Gymnasium environments: score them, or record what they do."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from countmorl.envs.gridworld import PREFIX, register_worlds
from countmorl.envs.tasks import Task, find_task, mean_and_spread
from countmorl.errors import ConfigError, RunError
from countmorl.extras import installed, require
from countmorl.runtime.policy import Policy
from countmorl.spaces import ActionSpace

Act = Callable[[np.ndarray], np.ndarray]
"""A batch of observations to a batch of actions."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Returns of some episodes, raw and, where references are known, normalised."""

    task: Task
    returns: tuple[float, ...]
    lengths: tuple[int, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return means and spreads as JSON-able values."""
        mean, spread = mean_and_spread(self.returns)
        return {
            "return": mean,
            "return_std": spread,
            "score": self.task.score(mean),
            "score_std": self.task.score_spread(spread),
            "length": float(np.mean(self.lengths)),
            "episodes": len(self.returns),
        }


def make_env(env_id: str) -> Any:
    """Make one environment; what is unusable is refused in a sentence."""
    gymnasium = require("gymnasium")
    _keep_mujoco_quiet()
    if env_id.startswith(PREFIX):
        register_worlds()
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
    flat = isinstance(env.observation_space, gymnasium.spaces.Box)
    if not flat or len(env.observation_space.shape) != 1:
        raise ConfigError(f"'{env_id}' has observations {env.observation_space}; wanted a vector.")
    ActionSpace.of(env)
    return env


def _keep_mujoco_quiet() -> None:
    """MuJoCo writes every warning to MUJOCO_LOG.TXT in the working folder; keep that clean."""
    if installed("mujoco"):
        require("mujoco").set_mju_user_warning(lambda message: None)


def evaluate(
    policy: Policy | Act, task: Task | str, *, episodes: int = 10, seed: int = 0
) -> Evaluation:
    """Play `episodes` episodes side by side, with one call of the policy for all of them.

    A `Policy` acts by its mean, or its likeliest action. Episode i starts from a state that `seed`
    and i alone decide.
    """
    if episodes < 1:
        raise ConfigError(f"`episodes` must be at least 1, got {episodes}.")
    if seed < 0:
        raise ConfigError(f"`seed` must be at least 0, got {seed}.")
    task = find_task(task) if isinstance(task, str) else task
    act = policy.act if isinstance(policy, Policy) else policy
    envs = [make_env(task.env_id) for _ in range(episodes)]
    try:
        if isinstance(policy, Policy):
            check_fit(policy, envs[0], task)
        returns, lengths = _play(act, envs, seed)
    finally:
        for env in envs:
            env.close()
    return Evaluation(task=task, returns=tuple(returns.tolist()), lengths=tuple(lengths.tolist()))


class Sized(Protocol):
    """A policy, or a dataset that one is learned from."""

    @property
    def obs_dim(self) -> int: ...  # noqa: D102
    @property
    def action_dim(self) -> int: ...  # noqa: D102
    @property
    def discrete(self) -> bool: ...  # noqa: D102


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


def _play(act: Act, envs: list[Any], seed: int) -> tuple[np.ndarray, np.ndarray]:
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
