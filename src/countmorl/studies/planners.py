"""The comparison on grid worlds: what a penalty on thin data is worth, over sizes of the data.

A Q-learner's log of a slippery world is thinned to a few rows. Each method plans on the same rows;
its policy is then judged exactly in the true world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from countmorl.collecting.qlearning import ROWS, Steps, count_steps, replay
from countmorl.envs.gridworld import LIMIT, World
from countmorl.errors import ConfigError
from countmorl.tabular.certificate import Assumptions, pair_errors
from countmorl.tabular.conservative import conservative_mdp, count_penalty, lowered
from countmorl.tabular.data import TabularData
from countmorl.tabular.estimate import maximum_likelihood
from countmorl.tabular.mdp import TabularMDP
from countmorl.tabular.planning import after, plan_floored, policy_iteration

KNOWN = Assumptions(reward_range=(-1, 1), value_range=(-1, 1), successors=4)
"""What is known of every grid world: an episode pays once, and a step leads to four cells."""


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """Settings of the comparison."""

    sizes: tuple[int, ...] = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
    """Rows kept of the log."""
    seeds: int = 20
    """Learners, and draws of rows, for each size."""
    slip: float = 0.2
    """Probability that a random action is executed instead of the chosen one."""
    beta: float = 0.1
    """Weight of the practical penalty."""
    gamma: float = 0.95
    """Discount factor."""
    delta: float = 0.05
    """Probability with which the theory's penalty may fail."""

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise ConfigError(f"`sizes` must be numbers of rows, at least 1; got {self.sizes}.")
        if self.seeds < 1:
            raise ConfigError(f"`seeds` must be at least 1, got {self.seeds}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """One method on one size of data in one world: what its policies do, one entry per seed."""

    world: str
    method: str
    rows: int
    goal: np.ndarray
    """Probability of reaching the goal within the step limit."""
    lava: np.ndarray
    """Probability of ending in lava within the step limit."""

    @property
    def returns(self) -> np.ndarray:
        """Expected undiscounted return of an episode: goal - lava."""
        return self.goal - self.lava


Planner = Callable[[TabularData, StudyConfig], np.ndarray]


def behaviour(data: TabularData, config: StudyConfig) -> np.ndarray:
    """Do what the log did."""
    return data.behaviour


def plain(data: TabularData, config: StudyConfig) -> np.ndarray:
    """Plan on the maximum-likelihood model and trust it everywhere."""
    return policy_iteration(maximum_likelihood(data, gamma=config.gamma)).policy


def practical(data: TabularData, config: StudyConfig) -> np.ndarray:
    """Plan with beta / sqrt(n) taken from every reward (Algorithm 1)."""
    model = maximum_likelihood(data, gamma=config.gamma)
    return policy_iteration(lowered(model, count_penalty(data.counts, beta=config.beta))).policy


def theory(data: TabularData, config: StudyConfig) -> np.ndarray:
    """Plan in the conservative MDP of Definition 3, with the coefficient of the theory."""
    forever = Assumptions(reward_range=KNOWN.reward_range, successors=KNOWN.successors)
    return policy_iteration(_careful(data, config, forever)).policy


def floored(data: TabularData, config: StudyConfig) -> np.ndarray:
    """The same, knowing that an episode pays once: a smaller coefficient, and no value below -1."""
    return plan_floored(_careful(data, config, KNOWN), floor=-1.0).policy


def _careful(data: TabularData, config: StudyConfig, assume: Assumptions) -> TabularMDP:
    model = maximum_likelihood(data, gamma=config.gamma)
    error = pair_errors(data, delta=config.delta, assume=assume)
    return conservative_mdp(model, error, factor=assume.factor(data, config.gamma))


PLANNERS: dict[str, Planner] = {
    "behaviour": behaviour,
    "plain": plain,
    "penalty": practical,
    "theory": theory,
    "floored": floored,
}


def study(world: World, config: StudyConfig) -> list[Outcome]:
    """Judge every method on every size of data; the last outcome is the true optimum."""
    truth = TabularMDP.of_world(world, slip=config.slip, gamma=config.gamma)
    sizes = [size for size in config.sizes if size <= ROWS[world.name]]
    logs = [replay(world, slip=config.slip, seed=seed) for seed in range(config.seeds)]
    outcomes = []
    for size in sizes:
        data = [thinned(world, log, size, seed) for seed, log in enumerate(logs)]
        for method, planner in PLANNERS.items():
            ends = [_ends(world, truth, planner(part, config)) for part in data]
            outcomes.append(_outcome(world, method, size, ends))
    best = _ends(world, truth, policy_iteration(truth).policy)
    return [*outcomes, _outcome(world, "optimum", max(sizes, default=0), [best])]


def thinned(world: World, log: Steps, rows: int, seed: int) -> TabularData:
    """Keep `rows` rows of a log, drawn at random, and count them."""
    if not 1 <= rows <= len(log.state):
        raise ConfigError(
            f"`rows` must be at least 1 and at most {len(log.state):,}, the size of the log; "
            f"got {rows:,}."
        )
    kept = np.random.default_rng(seed).choice(len(log.state), rows, replace=False)
    return count_steps(world, Steps(*(np.asarray(column)[kept] for column in log)))


def _ends(world: World, truth: TabularMDP, policy: np.ndarray) -> tuple[float, float]:
    where = after(truth, policy, LIMIT)
    return float(where[world.goal]), float(where[world.lava].sum())


def _outcome(world: World, method: str, rows: int, ends: list[tuple[float, float]]) -> Outcome:
    goal, lava = np.array(ends).T
    return Outcome(world=world.name, method=method, rows=rows, goal=goal, lava=lava)
