"""Rollouts that leave by one column."""

import numpy as np

from countmorl.coverage.imagined import Imagined
from countmorl.coverage.nearest import Nearest
from countmorl.coverage.ways import ways_out
from worlds import chain_log, linear_log


def made(obs, action, level):
    """Rollouts [steps, rollouts] of one number each."""
    level = np.array(level)
    alive = np.ones(level.shape, bool)
    return Imagined(
        obs=np.array(obs, np.float32)[..., None],
        action=np.array(action, np.float32)[..., None],
        reward=np.zeros(level.shape),
        alive=alive,
        count=level * 5.0,
        level=level,
    )


def test_the_most_frequent_way_first():
    data = linear_log(40)
    # Three leave at their second step upwards, one at its first downwards, one stays.
    obs = [[0, 0, 0, -9, 0], [4, 5, 6, 0, 0]]
    level = [[2, 2, 2, 0, 2], [0, 0, 0, 0, 2]]
    found = ways_out(made(obs, np.zeros((2, 5)), level), Nearest.of(data))
    assert [(w.column, w.side, w.rollouts, w.step) for w in found] == [
        ("obs[0]", "above", 3, 2),
        ("obs[0]", "below", 1, 1),
    ]
    assert (found[0].share, found[0].value) == (0.6, 5)
    assert found[0].text.startswith("obs[0] above what was logged nearby (5, nearest logged ")
    assert found[0].as_dict()["text"] == found[0].text


def test_nobody_leaves():
    assert ways_out(made([[0.0]], [[0.0]], [[2]]), Nearest.of(linear_log(10))) == []


def test_a_discrete_action():
    data = chain_log(30, on=1.0)
    one = Imagined(
        obs=np.eye(4, dtype=np.float32)[[0]][None],
        action=np.eye(2, dtype=np.float32)[[0]][None],
        reward=np.zeros((1, 1)),
        alive=np.ones((1, 1), bool),
        count=np.zeros((1, 1)),
        level=np.zeros((1, 1), int),
    )
    (way,) = ways_out(one, Nearest.of(data))
    assert (way.text, way.side) == ("action[0] not tried there", "elsewhere")
