"""Judging by play: episodes in a task's environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.envs.simulators import Act, check_fit, make_env, play
from countmorl.envs.tasks import Task, find_task, mean_and_spread
from countmorl.errors import ConfigError
from countmorl.evaluation.base import Estimate
from countmorl.runtime.base import PolicyLike, Sized


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """Plays episodes side by side; a policy acts by its mean, or its likeliest action."""

    task: Task
    episodes: int = 10

    def __post_init__(self) -> None:
        if self.episodes < 1:
            raise ConfigError(f"`episodes` must be at least 1, got {self.episodes}.")

    @classmethod
    def of(cls, dataset: Dataset, episodes: int) -> Simulation | None:
        """The simulation of a dataset's task; None where it cannot be simulated here."""
        if dataset.task is None or not dataset.task.available():
            return None
        return cls(task=dataset.task, episodes=episodes)

    def check(self, policy: Sized, name: str) -> None:
        """Raise where the sizes of a policy are not the environment's."""
        env = make_env(self.task.env_id)
        try:
            check_fit(policy, env, self.task, name)
        finally:
            env.close()

    def __call__(self, policy: PolicyLike | Act, *, seed: int) -> Estimate:
        """Play; episode i starts from a state that `seed` and i alone decide."""
        if seed < 0:
            raise ConfigError(f"`seed` must be at least 0, got {seed}.")
        envs = [make_env(self.task.env_id) for _ in range(self.episodes)]
        try:
            returns, lengths = play(_act(policy, envs[0], self.task), envs, seed)
        finally:
            for env in envs:
                env.close()
        return self.estimate(returns, lengths)

    def estimate(self, returns: np.ndarray, lengths: np.ndarray) -> Estimate:
        """Sum up episodes: their mean return, and its score where references are known."""
        mean, spread = mean_and_spread(returns)
        facts = {"return": mean, "return_std": spread}
        if (score := self.task.score(mean)) is not None:
            facts |= {"score": score, "score_std": self.task.score_spread(spread) or 0.0}
        facts["length"] = float(np.mean(lengths))
        return Estimate(
            value=mean,
            interval=_interval(returns),
            unit="return of an episode",
            made_by=f"{len(returns)} episodes played in {self.task.env_id}",
            facts=facts,
        )


def _act(policy: PolicyLike | Act, env: object, task: Task) -> Act:
    if isinstance(policy, Callable):  # A function of observations has no sizes to check.
        return policy
    check_fit(policy, env, task)
    return policy.act


def _interval(returns: np.ndarray) -> tuple[float, float] | None:
    """Mean and two standard errors; one episode alone says nothing about the others."""
    if len(returns) < 2:
        return None
    mean, error = float(np.mean(returns)), float(np.std(returns, ddof=1) / len(returns) ** 0.5)
    return mean - 1.96 * error, mean + 1.96 * error


def evaluate(
    policy: PolicyLike | Act, task: Task | str, *, episodes: int = 10, seed: int = 0
) -> Estimate:
    """Play `episodes` episodes with a policy, or with any function of observations."""
    found = find_task(task) if isinstance(task, str) else task
    return Simulation(task=found, episodes=episodes)(policy, seed=seed)
