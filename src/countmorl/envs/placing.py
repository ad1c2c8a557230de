"""A task's real environment, put into the state of any observation: one true step of any pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from countmorl.envs.gridworld import PREFIX
from countmorl.envs.simulators import make_env
from countmorl.envs.tasks import Task
from countmorl.errors import ConfigError
from countmorl.extras import require
from countmorl.spaces import ActionSpace

Put = Callable[[Any, np.ndarray], bool]
"""Puts an environment into the state of an observation; False where no step leads on from it."""


class TrueSteps(NamedTuple):
    """What follows some pairs in truth; not a number where the simulator breaks down."""

    next_obs: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Simulator:
    """True steps of a task, from whatever observation."""

    env: Any
    put: Put

    @property
    def space(self) -> ActionSpace:
        """The actions of the environment."""
        return ActionSpace.of(self.env)

    @property
    def obs_dim(self) -> int:
        """Numbers in one observation."""
        return self.env.observation_space.shape[0]

    def at(self, obs: np.ndarray, action: np.ndarray) -> TrueSteps:
        """Take one step from each of [n, obs_dim], by actions as the environment takes them."""
        if obs.ndim != 2 or obs.shape[1] != self.obs_dim or len(obs) != len(action):
            raise ConfigError(
                f"{self.env.spec.id} wants observations [n, {self.obs_dim}] and as many actions, "
                f"got shapes {list(obs.shape)} and {list(np.shape(action))}."
            )
        steps = [self._one(*pair) for pair in zip(obs.astype(np.float64), action, strict=True)]
        columns = list(zip(*steps, strict=True)) or [np.empty((0, self.obs_dim)), (), ()]
        kinds = (np.float32, np.float32, bool)
        return TrueSteps(*(np.array(c, kind) for c, kind in zip(columns, kinds, strict=True)))

    def _one(self, obs: np.ndarray, action: Any) -> tuple[np.ndarray, float, bool]:
        env = self.env.unwrapped  # Without its time limit, which is not part of the state.
        if not self.put(env, obs):
            return obs, 0.0, True
        next_obs, reward, terminated, _, _ = env.step(action)
        # A copy: some environments hand out the very array that they go on with.
        following = np.array(next_obs, np.float32).reshape(-1)
        if _broken(env):
            return np.full_like(following, np.nan), float("nan"), False
        return following, float(reward), bool(terminated)


def simulator_of(task: Task) -> Simulator:
    """The simulator of a task that can be put into the state of an observation."""
    env = make_env(task.env_id)
    name = task.env_id.rpartition(":")[2].rpartition("-v")[0]
    put = _own if callable(getattr(env.unwrapped, "at", None)) else PLACED.get(name)
    if put is None and task.env_id.startswith(PREFIX):
        put = _gridworld
    if put is None:
        env.close()
        raise ConfigError(
            f"How {task.env_id} is put into the state of an observation is not known. Give the "
            "environment a method at(obs) that does so, and name it with --task module:Env-v0. "
            f"Known: {', '.join(PLACED)}, and the grid worlds."
        )
    env.reset(seed=0)
    return Simulator(env=env, put=put)


def _own(env: Any, obs: np.ndarray) -> bool:
    env.at(obs)
    return True


def _walker(env: Any, obs: np.ndarray) -> bool:
    """Observations are qpos without x, which nothing depends on, and qvel."""
    # Or the solver would begin where the last pair left it, and steps depend on their order.
    require("mujoco").mj_resetData(env.model, env.data)
    positions = env.model.nq - 1
    env.set_state(np.concatenate([[0.0], obs[:positions]]), obs[positions:])
    return True


def _broken(env: Any) -> bool:
    """Whether MuJoCo has met numbers that it cannot go on with; it then begins anew in silence."""
    if not hasattr(env, "data"):
        return False
    kinds = require("mujoco").mjtWarning
    bad = (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC)
    return any(env.data.warning[int(kind)].number for kind in bad)


def _same(env: Any, obs: np.ndarray) -> bool:
    env.state = obs.copy()
    env.steps_beyond_terminated = None  # CartPole pays nothing after its end.
    return True


def _pendulum(env: Any, obs: np.ndarray) -> bool:
    env.state = np.array([np.arctan2(obs[1], obs[0]), obs[2]])
    return True


def _acrobot(env: Any, obs: np.ndarray) -> bool:
    angles = np.arctan2(obs[1], obs[0]), np.arctan2(obs[3], obs[2])
    env.state = np.array([*angles, *obs[4:]])
    return True


def _gridworld(env: Any, obs: np.ndarray) -> bool:
    """The cell whose number is nearest."""
    env.state = int(np.clip(np.rint(obs[0]), 0, env.world.states - 1))
    return not env.world.terminal[env.state]


PLACED: dict[str, Put] = {
    "HalfCheetah": _walker,
    "Hopper": _walker,
    "Walker2d": _walker,
    "Pendulum": _pendulum,
    "CartPole": _same,
    "MountainCar": _same,
    "MountainCarContinuous": _same,
    "Acrobot": _acrobot,
}
"""Environments by the name before their version, and how each is placed."""
