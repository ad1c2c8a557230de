"""One table of tasks: environment, horizon, termination, reference scores."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from countmorl.envs.gridworld import PREFIX, find_world, register_worlds
from countmorl.errors import ConfigError, did_you_mean
from countmorl.extras import import_named, installed, require


@dataclass(frozen=True, kw_only=True)
class Task:
    """An environment to judge policies on, known by its Gymnasium id."""

    name: str
    env_id: str
    horizon: int | None = None
    """Steps after which an episode is cut (a time limit, not a termination)."""
    termination: str | None = None
    """Name of a function in `countmorl.envs.terminations`, where the rule is known."""
    reference: tuple[float, float] | None = None
    """Returns that count as 0 and as 100 points; D4RL's random and expert policies."""
    dims: tuple[int, int] | None = None
    """Sizes of an observation and of an action."""

    def score(self, mean_return: float) -> float | None:
        """100 (R - low) / (high - low), the normalised score, where references are known."""
        if self.reference is None:
            return None
        low, high = self.reference
        return 100.0 * (mean_return - low) / (high - low)

    def score_spread(self, spread: float) -> float | None:
        """Scale a standard deviation of returns to points. A spread is scaled, never shifted."""
        if self.reference is None:
            return None
        low, high = self.reference
        return 100.0 * spread / (high - low)

    def available(self) -> bool:
        """Tell whether the packages that simulate this task are installed."""
        if not installed("gymnasium") or (self.uses_mujoco and not installed("mujoco")):
            return False
        if self.env_id.startswith(PREFIX):
            register_worlds()
        module, _, env_id = self.env_id.rpartition(":")
        return is_imported(module) and env_id in require("gymnasium").registry

    @property
    def uses_mujoco(self) -> bool:
        """Whether the environment is one of the MuJoCo tasks of the table."""
        return self.env_id in {task.env_id for task in TASKS.values()}


def is_imported(module: str) -> bool:
    """Tell whether a module before a colon is there since the user named it; none always is.

    A file may name any module and any id that is known: no file makes us import the module.
    """
    return not module or module in sys.modules


def _locomotion(
    name: str, env: str, termination: str, dims: tuple[int, int], low: float, high: float
) -> list[Task]:
    """D4RL data is judged on the -v4 environments, Minari data on -v5, which has no reference."""
    shared = {"horizon": 1000, "termination": termination, "dims": dims}
    return [
        Task(name=name, env_id=f"{env}-v4", reference=(low, high), **shared),
        Task(name=f"{name}-v5", env_id=f"{env}-v5", **shared),
    ]


TASKS: dict[str, Task] = {
    task.name: task
    for task in [
        *_locomotion("halfcheetah", "HalfCheetah", "never", (17, 6), -280.178953, 12135.0),
        *_locomotion("hopper", "Hopper", "hopper", (11, 3), -20.272305, 3234.3),
        *_locomotion("walker2d", "Walker2d", "walker2d", (17, 6), 1.629008, 4592.3),
    ]
}


def find_task(name: str) -> Task:
    """Return the task of that name or Gymnasium id, as `gymnasium.make` takes it.

    A module before a colon is imported, so a name must come from the user, never from a file.
    """
    for task in TASKS.values():
        if name in (task.name, task.env_id):
            return task
    known = [*TASKS, *(task.env_id for task in TASKS.values())]
    if not installed("gymnasium"):
        raise ConfigError(
            f"No task named '{name}'.{did_you_mean(name, known)} Known without Gymnasium: "
            f'{", ".join(TASKS)}. For others: pip install "countmorl[mujoco]"'
        )
    gymnasium = require("gymnasium")
    if name.startswith(PREFIX):
        name = find_world(name).env_id
        register_worlds()
    module, _, env_id = name.rpartition(":")
    try:
        if module:
            import_named(module)
        spec = gymnasium.spec(env_id)
    except (ImportError, TypeError) as error:
        raise ConfigError(
            f"The module of the task '{name}' could not be imported: {error}. It must be "
            "module:Env-v0, importable from here."
        ) from error
    except (gymnasium.error.Error, ValueError) as error:
        hint = did_you_mean(name, [*known, *gymnasium.registry])
        raise ConfigError(
            f"No task named '{name}'.{hint} Give one of {', '.join(TASKS)} or any Gymnasium id."
        ) from error
    return Task(name=spec.id, env_id=name if module else spec.id, horizon=spec.max_episode_steps)


def task_of_file(stem: str, dims: tuple[int, int]) -> Task | None:
    """Recognise a file named like D4RL's (`hopper_medium-v2`) whose sizes fit that task."""
    name = stem.lower()
    fitting = [
        task
        for task in TASKS.values()
        if name.startswith((f"{task.name}_", f"{task.name}-")) and task.dims == dims
    ]
    return max(fitting, key=lambda task: len(task.name), default=None)


def task_of_env(env_id: str, horizon: int | None = None) -> Task:
    """Return the task of an environment id that a file names; nothing is imported for it."""
    for task in TASKS.values():
        if task.env_id == env_id:
            return task
    known = Task(name=env_id, env_id=env_id, horizon=horizon)
    return find_task(env_id) if known.available() else known


def mean_and_spread(returns: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of episode returns."""
    values = np.asarray(returns, np.float64)
    return float(values.mean()), float(values.std())
