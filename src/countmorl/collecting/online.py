"""Online SAC in a simulator, alternating steps and updates: how D4RL's behaviour was made.

An epoch is 1000 steps of the stochastic policy and then 1000 updates. Every epoch begins with a
reset, so that no simulator state has to be saved and a resumed run equals an unbroken one; the
step at which it is cut is a time-out, as in D4RL's replay data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool

from countmorl import trees
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.buffer import RingBuffer
from countmorl.configs import at_least, check_types
from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.envs.simulators import make_env, record
from countmorl.envs.tasks import Task
from countmorl.evaluation.simulate import Simulation
from countmorl.fitting import AbstractFit
from countmorl.runtime.policy import Policy
from countmorl.spaces import ActionSpace
from countmorl.types import Key, Metrics, Transition


@dataclass(frozen=True, kw_only=True)
class OnlineConfig:
    """How behaviour policies are trained."""

    until: float
    """Stop when the stochastic policy's mean return reaches this."""
    steps: int = 1000
    """Environment steps, and updates, of one epoch."""
    max_epochs: int = 1000
    """Stop at the latest after this many epochs."""
    random_steps: int = 5000
    """First steps, with uniformly random actions."""
    batch: int = 256
    """Rows of one update."""
    episodes: int = 10
    """Episodes by which the policy is judged after each epoch."""
    sac: SACConfig = field(
        default_factory=lambda: SACConfig(
            discount=0.99,
            actor_decay=False,
            critic_norm=False,
            entropy_rate=3e-4,
            average_share=0.0,
        )
    )
    """The learner."""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, steps=1, max_epochs=1, random_steps=0, batch=1, episodes=1)


class OnlineState(eqx.Module):
    """The agent and everything it has lived through."""

    agent: SAC
    replay: RingBuffer
    truncated: Bool[Array, " rows"]


class OnlineFit(AbstractFit[OnlineState, OnlineState]):
    """Trains until the policy is good enough; its state is the replay dataset."""

    stream = 10
    shown = ("q", "return", "score")

    def __init__(self, task: Task, config: OnlineConfig, seed: int, name: str = "online") -> None:
        self.task, self.config, self.seed, self.name = task, config, seed, name
        self.epochs = config.max_epochs
        self.env = make_env(task.env_id)
        self.space = ActionSpace.of(self.env)

    def init(self, *, key: Key) -> OnlineState:
        """A random agent with an empty past."""
        sizes = (self.env.observation_space.shape[0], self.space.size)
        rows = self.config.max_epochs * self.config.steps
        return OnlineState(
            SAC.make(self.config.sac, *sizes, updates=rows, discrete=self.space.discrete, key=key),
            RingBuffer.empty(self.config.max_epochs, self.config.steps, *sizes),
            jnp.zeros(rows, bool),
        )

    def epoch(self, state: OnlineState, *, key: Key) -> tuple[OnlineState, Metrics]:
        """Live for some steps, then learn from everything lived through."""
        first = int(state.replay.size)
        steps, truncated = self._live(state.agent, first)
        return _learn((self.config,), state, (steps, truncated, jnp.asarray(first)), key)

    def _live(self, agent: SAC, first: int) -> tuple[Transition, jax.Array]:
        rng = np.random.default_rng([self.seed, first])
        policy = self.agents_policy(agent)
        random = first < self.config.random_steps

        def act(obs: np.ndarray) -> Any:
            if random:
                return self.space.draw(rng)
            return policy.act(obs, rng=rng)

        seed = int(rng.integers(2**31))
        lived = list(record(act, self.env, rows=self.config.steps, seed=seed))
        columns = [np.asarray(column, np.float32) for column in zip(*lived, strict=True)]
        columns[1] = self.space.vectors(columns[1])
        obs, action, reward, next_obs = (jnp.asarray(column) for column in columns[:4])
        ended, cut = columns[4].astype(bool), columns[5].astype(bool)
        cut[-1] = not ended[-1]
        return Transition(obs, action, reward, next_obs, jnp.asarray(ended)), jnp.asarray(cut)

    def judge(self, state: OnlineState, epoch: int) -> dict[str, Any]:
        """Score the stochastic policy, which is the one that makes the data."""
        policy, rng = self.policy(state), np.random.default_rng([self.seed, epoch, 1])
        play = Simulation(task=self.task, episodes=self.config.episodes)
        seed = self.seed * 1_000_003 + epoch
        judged = play(lambda obs: policy.act(obs, rng=rng), seed=seed)
        self._last = judged.value
        return {k: v for k, v in judged.facts.items() if k in ("return", "return_std", "score")}

    def finished(self, state: OnlineState) -> bool:
        """Stop when the policy is good enough."""
        return self._last >= self.config.until

    _last = float("-inf")

    def policy(self, state: OnlineState) -> Policy:
        """The policy as it is now."""
        return self.agents_policy(state.agent)

    def agents_policy(self, agent: SAC) -> Policy:
        """An agent's policy, for this task's actions."""
        info = {"algorithm": "online sac", "task": self.task.env_id, "dataset": None}
        return agent.policy(self.space, info)

    def result(self, state: OnlineState) -> OnlineState:
        """Everything: the replay is what was wanted."""
        return state

    def replay(self, state: OnlineState, name: str) -> Dataset:
        """Return every step of the training, in order, as a dataset."""
        rows = int(state.replay.size)
        data = jax.tree.map(lambda leaf: np.asarray(leaf[:rows]), state.replay.data)
        found = {
            "obs": data.obs,
            "action": self.space.actions(data.action),
            "reward": data.reward,
            "next_obs": data.next_obs,
            "terminated": data.terminated,
            "truncated": np.asarray(state.truncated[:rows]),
            **self.space.fields,
        }
        return Dataset.of(Fields.of(found, name=name, task=self.task))


@eqx.filter_jit(donate="all-except-first")
def _learn(
    frozen: tuple[OnlineConfig], state: OnlineState, lived: Any, key: Key
) -> tuple[OnlineState, Metrics]:
    (config,) = frozen
    steps, truncated, first = lived
    replay = state.replay.add(steps, jnp.ones(config.steps, bool))
    flags = jax.lax.dynamic_update_slice(state.truncated, truncated, (first,))

    def step(agent: SAC, step_key: Key) -> tuple[SAC, Metrics]:
        batch_key, learn_key = jr.split(step_key)
        return agent.update(replay.sample(config.batch, key=batch_key), key=learn_key)

    agent, metrics = jax.lax.scan(step, state.agent, jr.split(key, config.steps))
    return OnlineState(agent, replay, flags), trees.mean(metrics)
