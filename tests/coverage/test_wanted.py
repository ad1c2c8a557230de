"""What is reached, worth much and rare is what to log."""

import numpy as np

from countmorl.coverage.axes import Table
from countmorl.coverage.imagined import Imagined
from countmorl.coverage.nearest import Nearest
from countmorl.coverage.wanted import log_next
from worlds import linear_log


def imagined(obs, action, level):
    level = np.array(level)
    return Imagined(
        obs=obs[..., None].astype(np.float32),
        action=action[..., None].astype(np.float32),
        reward=np.zeros(level.shape),
        alive=np.ones(level.shape, bool),
        count=level * 5.0,
        level=level,
    )


def test_the_region_that_is_rare_and_valuable():
    data = linear_log(60)
    rng = np.random.default_rng(0)
    obs = rng.uniform(-0.2, 0.2, (4, 100))
    action = np.where(np.arange(100) < 50, 0.99, 0.0) * np.ones((4, 1))
    level = np.where(action > 0.9, 1, 2)
    table, nearest = Table.of(data), Nearest.of(data)
    value = np.where(action > 0.9, 10.0, 1.0)
    first, *_ = log_next(
        table, [(imagined(obs, action, level), value, 0 * value + 5.5)], nearest, least=6.0
    )
    assert "action[0] above" in first.text
    assert (first.value, first.usual) == (10.0, 5.5)
    assert first.reached <= 0.5
    assert first.share > 0.5
    bound = float(first.text.rpartition(" ")[2])
    assert all(float(example.columns["action[0]"]) > bound - 0.5 for example in first.examples)
    assert set(first.as_dict()) >= {"text", "reached", "value", "rows", "examples"}


def test_what_is_rare_and_worth_little_is_not_wanted():
    data = linear_log(60)
    obs, action = np.zeros((4, 100)), np.where(np.arange(100) < 40, 0.99, 0.0) * np.ones((4, 1))
    level, value = np.where(action > 0.9, 1, 2), np.where(action > 0.9, -1.0, 1.0)
    table, nearest = Table.of(data), Nearest.of(data)
    assert (
        log_next(table, [(imagined(obs, action, level), value, 0 * value)], nearest, least=6.0)
        == []
    )


def test_far_behind_the_first_unseen_pair_nothing_is_reached():
    data = linear_log(60)
    obs, action = np.zeros((40, 20)), np.full((40, 20), 0.99)
    level = np.zeros((40, 20), int)
    found = log_next(
        Table.of(data),
        [(imagined(obs, action, level), np.ones((40, 20)), np.zeros((40, 20)))],
        Nearest.of(data),
        least=6.0,
    )
    assert found[0].reached == 1
    assert found[0].rows <= len(data)
