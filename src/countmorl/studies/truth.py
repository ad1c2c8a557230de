"""What policies are worth in truth: by play in the measure's own unit, or by exact planning.

Episodes begin where the task begins them, as those of the log did, and go on past the task's time
limit for as long as the discount looks ahead: a limit is a cut, and estimators look beyond it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.envs.gridworld import PREFIX, World, find_world
from countmorl.envs.simulators import make_env, unlimited
from countmorl.envs.tasks import Task
from countmorl.errors import ConfigError
from countmorl.evaluation.measure import Measure, usual_reward
from countmorl.tabular.mdp import TabularMDP
from countmorl.tabular.planning import greedy, start_value

Act = Callable[[np.ndarray], np.ndarray]
"""From observations [n, obs] to actions as the environment takes them."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What a policy earns."""

    value: float
    """In the measure's unit."""
    error: float
    """Standard error of the value; 0 where it is exact."""
    total: float | None = None
    """Plain return of an episode up to the task's time limit; None where it was not played."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Teller:
    """Tells the truth about policies of one log's task."""

    task: Task
    measure: Measure
    usual: float
    """The log's usual reward, for what lies beyond the discount's end."""
    episodes: int = 20
    seed: int = 0

    @classmethod
    def of(cls, dataset: Dataset, measure: Measure, *, episodes: int, seed: int = 0) -> Teller:
        """The truth about a log's task; one that nobody can play is a `ConfigError`."""
        if dataset.task is None or not dataset.task.available():
            raise ConfigError(
                f"The task of '{dataset.name}' cannot be simulated here, so the truth that "
                "estimates are compared with is not known. Leave its runs out."
            )
        usual = usual_reward(dataset, measure)
        return cls(task=dataset.task, measure=measure, usual=usual, episodes=episodes, seed=seed)

    def __call__(self, act: Act) -> Truth:
        """Plan where the task is a grid world, else play."""
        if self.world is not None:
            world = self.world
            done = np.asarray(act(np.arange(world.states, dtype=np.float32)[:, None]), int)
            return Truth(value=self._exact(world, greedy(done, world.actions)), error=0.0)
        return self._play(act)

    def chance(self) -> Truth:
        """What random actions earn."""
        if self.world is not None:
            even = np.full((self.world.states, self.world.actions), 1 / self.world.actions)
            return Truth(value=self._exact(self.world, even), error=0.0)
        env = make_env(self.task.env_id)
        env.close()
        env.action_space.seed(self.seed)
        return self._play(lambda obs: np.stack([env.action_space.sample() for _ in obs]))

    @property
    def world(self) -> World | None:
        """The grid world, where values can be known exactly."""
        grid = self.task.env_id.startswith(PREFIX) and self.measure.horizon is None
        return find_world(self.task.env_id) if grid else None

    def _exact(self, world: World, policy: np.ndarray) -> float:
        return start_value(TabularMDP.of_world(world, gamma=self.measure.discount), policy)

    def _play(self, act: Act) -> Truth:
        envs = [unlimited(make_env(self.task.env_id)) for _ in range(self.episodes)]
        try:
            steps = max(self.measure.steps, self.task.horizon or 0)
            rewards, alive = play_on(act, envs, steps, self.seed)
        finally:
            for env in envs:
                env.close()
        ahead = self.measure.steps
        values = rewards[:, :ahead] @ self.measure.weights
        values += alive[:, ahead - 1] * self.usual * float(self.measure.rest(ahead))
        error = float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else float("nan")
        total = rewards[:, : self.task.horizon].sum(axis=1).mean() if self.task.horizon else None
        return Truth(value=float(values.mean()), error=error, total=total and float(total))


def play_on(act: Act, envs: list, steps: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rewards [episodes, steps], 0 after an end, and whether each step left its episode alive."""
    seeds = np.random.SeedSequence(seed).generate_state(len(envs))
    obs = np.stack([env.reset(seed=int(s))[0] for env, s in zip(envs, seeds, strict=True)])
    rewards, alive = np.zeros((len(envs), steps)), np.zeros((len(envs), steps), bool)
    playing = np.arange(len(envs))
    for at in range(steps):
        actions = act(obs)
        for index in playing:
            obs[index], rewards[index, at], ended, *_ = envs[index].step(actions[index])
            alive[index, at] = not ended
        playing = playing[alive[playing, at]]
        if not len(playing):
            break
    return rewards, alive
