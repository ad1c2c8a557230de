import numpy as np
import pytest

from countmorl import load
from countmorl.agents.clone import chance_of_actions, cloned
from small_runs import vector_log

ROWS = 2_000


def log(action):
    obs = np.random.default_rng(0).uniform(-1, 1, (ROWS, 1)).astype(np.float32)
    return load(
        {
            "obs": obs,
            "action": action(obs),
            "reward": np.ones(ROWS, np.float32),
            "next_obs": obs,
            "terminated": np.zeros(ROWS, bool),
            "truncated": np.arange(ROWS) % 100 == 99,
        }
    )


def test_the_clone_learns_what_was_done():
    dataset = load(vector_log() | {"action": np.full((300, 1), 1.5, np.float32)})
    found = cloned(dataset, updates=300, seed=0).policy(dataset.space, {}).act(dataset.obs[:9])
    assert found == pytest.approx(1.5, abs=0.1)


def test_actions_that_are_half_chance_by_hand():
    # a = obs + noise, both uniform on [-1, 1]: half of the variance is told.
    noise = np.random.default_rng(1).uniform(-1, 1, (ROWS, 1)).astype(np.float32)
    found = chance_of_actions(log(lambda obs: obs + noise), updates=300, seed=0)
    assert found == pytest.approx(0.5, abs=0.06)


def test_a_rule_is_told_and_noise_is_not():
    assert chance_of_actions(log(lambda obs: obs), updates=300, seed=0) < 0.05
    noise = np.random.default_rng(1).uniform(-1, 1, (ROWS, 1)).astype(np.float32)
    assert chance_of_actions(log(lambda obs: noise), updates=300, seed=0) > 0.95


def test_discrete_actions():
    rule = log(lambda obs: (obs[:, 0] > 0).astype(np.int64))
    assert chance_of_actions(rule, updates=300, seed=0) < 0.2
    coin = np.random.default_rng(1).integers(0, 2, ROWS)
    assert chance_of_actions(log(lambda obs: coin), updates=300, seed=0) > 0.95


def test_an_action_that_never_varies_is_no_chance():
    dataset = log(lambda obs: np.full((ROWS, 1), 0.5, np.float32))
    assert chance_of_actions(dataset, updates=2, seed=0) == 0
