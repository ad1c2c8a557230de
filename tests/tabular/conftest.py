import numpy as np
import pytest

from countmorl.tabular.data import TabularData
from countmorl.tabular.mdp import TabularMDP


@pytest.fixture(scope="session")
def random_mdp():
    """A function that draws an MDP."""

    def draw(rng, states=3, actions=2, gamma=0.8, low=-1.0):
        return TabularMDP(
            transition=rng.dirichlet(np.full(states, 0.5), states * actions),
            reward=rng.uniform(low, 1, (states, actions)),
            start=rng.dirichlet(np.ones(states)),
            gamma=gamma,
            terminal=np.zeros(states, bool),
        )

    return draw


@pytest.fixture(scope="session")
def short_log():
    """Two states, two actions: 0 -a0-> {0, 1, 1}, 0 -a1-> nothing seen, 1 ends."""
    return TabularData.of_rows(
        np.array([0, 0, 0]),
        np.array([0, 0, 0]),
        np.array([0.0, 1.0, 1.0]),
        np.array([0, 1, 1]),
        np.array([False, True, True]),
        first=np.array([0]),
        actions=2,
    )
