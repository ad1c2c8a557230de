"""HalfCheetah with 14 columns that tell the episode apart and nothing else."""

import gymnasium
import numpy as np

EXTRA = 14


class Identified(gymnasium.Env):
    """The extra columns stay as they are; the rest is the simulator's."""

    def __init__(self) -> None:
        self.inner = gymnasium.make("HalfCheetah-v4").unwrapped
        self.action_space = self.inner.action_space
        size = self.inner.observation_space.shape[0] + EXTRA
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.extra = np.zeros(EXTRA)

    @property
    def data(self):
        return self.inner.data

    def reset(self, *, seed=None, options=None):
        obs, info = self.inner.reset(seed=seed)
        self.extra = np.random.default_rng(seed).normal(size=EXTRA)
        return np.concatenate([obs, self.extra]), info

    def at(self, obs):
        import mujoco

        mujoco.mj_resetData(self.inner.model, self.inner.data)
        own, self.extra = obs[:-EXTRA], obs[-EXTRA:]
        nq = self.inner.model.nq - 1
        self.inner.set_state(np.concatenate([[0.0], own[:nq]]), own[nq:])

    def step(self, action):
        obs, *rest = self.inner.step(action)
        return np.concatenate([obs, self.extra]), *rest


gymnasium.register("Identified-v0", Identified, max_episode_steps=1000)
