from dataclasses import replace

import numpy as np
import pytest

from countmorl.envs.gridworld import WORLDS
from countmorl.errors import ConfigError
from countmorl.tabular.mdp import TabularMDP


def test_of_world():
    mdp = TabularMDP.of_world(WORLDS["bridge"], slip=0.1, gamma=0.9)
    assert (mdp.states, mdp.actions) == (64, 4)
    assert mdp.start[24] == 1
    assert mdp.terminal.sum() == 25


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gamma": 1.0}, "below 1"),
        ({"transition": np.ones((6, 3))}, "probability distribution"),
        ({"transition": np.ones((5, 3))}, "wanted \\(6, 3\\)"),
        ({"reward": np.full((3, 2), np.nan)}, "not finite"),
        ({"start": np.ones(3)}, "distribution over 3 states"),
    ],
)
def test_what_cannot_be_is_refused(random_mdp, changes, words):
    mdp = random_mdp(np.random.default_rng(0))
    with pytest.raises(ConfigError, match=words):
        replace(mdp, **changes)
