"""Random worlds with random data on which the guarantees are put to the test.

`random_instance` draws everything at random. `gamble_instance` is made to hurt: many actions whose
chances are as hard to tell from data as a given distance allows, and everything hangs on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.tabular.data import TabularData
from countmorl.tabular.mdp import TabularMDP, dense

CERTAIN = 10**8
"""Samples of a pair whose outcome is certain anyway."""
GAMBLES = 100
GAMBLE_COUNT = 401
EDGE = 0.02
"""By how much the safe choice has the better chance."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Instance:
    """The truth, data drawn from it, and what a guarantee may know beforehand."""

    truth: TabularMDP
    models: np.ndarray
    """A finite class of transition models that holds the truth, [models, pairs, states]."""
    data: TabularData
    approximate: np.ndarray
    """Approximate counts, [states, actions]."""
    successors: int
    reward_range: tuple[float, float]


def random_instance(rng: np.random.Generator) -> Instance:
    """Draw transitions, rewards, class and counts; some pairs are never seen."""
    states, actions = rng.integers(2, 6), rng.integers(2, 4)
    pairs = states * actions
    transition = rng.dirichlet(np.full(states, rng.choice([0.1, 0.5, 1.0])), pairs)
    low = rng.choice([-1.0, 0.0])
    reward = np.where(rng.random() < 0.5, rng.choice([low, 1.0], pairs), rng.uniform(low, 1, pairs))
    truth = TabularMDP(
        transition=transition,
        reward=reward.reshape(states, actions),
        start=rng.dirichlet(np.ones(states)),
        gamma=float(rng.choice([0.5, 0.8, 0.9, 0.95])),
        terminal=np.zeros(states, bool),
    )
    others = rng.dirichlet(np.ones(states), (rng.integers(1, 20), pairs))
    near = 10 ** rng.uniform(-2, 0, (len(others), 1, 1))
    models = np.concatenate([near * others + (1 - near) * transition, transition[None]])
    counts = np.floor(10 ** rng.uniform(-0.5, 2.5, pairs)).astype(int)
    data = sample(truth, counts, (low, 1.0), rng)
    noise = np.exp(rng.normal(0, 0.2, data.counts.shape)) if rng.random() < 0.5 else 1.0
    return Instance(
        truth=truth,
        models=models,
        data=data,
        approximate=data.counts * noise,
        successors=int(states),
        reward_range=(low, 1.0),
    )


def gamble_instance(rng: np.random.Generator, *, distance: float) -> Instance:
    """One choice among many gambles, then luck (+1 a step) or misery (-1 a step) for ever.

    Each gamble's chance of luck is truly 1/2 - t/2; the class holds 1/2 + t/2 as well, so the two
    are t apart in TV, with t = distance / sqrt(n). A planner takes the gamble that the data
    flatters most, and the value gap is the whole span times t: every inequality is tight. The
    first action is safe: its chance is known and a little better than any gamble's truth.
    """
    apart = distance / np.sqrt(GAMBLE_COUNT)
    worse, better = 0.5 - apart / 2, 0.5 + apart / 2
    models = np.stack([_gambles(chance, worse + EDGE) for chance in (better, worse)])
    reward = np.repeat([[0.0], [1.0], [-1.0]], GAMBLES + 1, axis=1)
    truth = TabularMDP(
        transition=models[1],
        reward=reward,
        start=np.array([1.0, 0.0, 0.0]),
        gamma=0.9,
        terminal=np.zeros(3, bool),
    )
    counts = np.full(len(truth.transition), CERTAIN)
    counts[1 : GAMBLES + 1] = GAMBLE_COUNT
    data = sample(truth, counts, (-1.0, 1.0), rng)
    return Instance(
        truth=truth,
        models=models,
        data=data,
        approximate=data.counts,
        successors=2,
        reward_range=(-1.0, 1.0),
    )


def _gambles(chance: float, safe: float) -> np.ndarray:
    rows = [[0.0, chance, 1 - chance], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    table = np.repeat(rows, GAMBLES + 1, axis=0)
    table[0] = [0.0, safe, 1 - safe]
    return table


def sample(
    truth: TabularMDP,
    counts: np.ndarray,
    reward_range: tuple[float, float],
    rng: np.random.Generator,
) -> TabularData:
    """Draw n(s, a) next states for every pair; rewards are those of the truth."""
    return TabularData(
        outcomes=rng.multinomial(counts, dense(truth.transition)).astype(np.float64),
        reward_sum=truth.reward * counts.reshape(truth.reward.shape),
        reward_range=reward_range,
        start=truth.start,
        terminal=truth.terminal,
        given_states=truth.states,
    )
