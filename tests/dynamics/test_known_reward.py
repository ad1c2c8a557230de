"""Rewards that are known as a function."""

import sys
from types import ModuleType

import jax.numpy as jnp
import numpy as np
import pytest

from countmorl import RunError, load, resume, train
from countmorl.dynamics.known_reward import KnownReward, check_reward
from countmorl.dynamics.layout import Layout
from countmorl.errors import ConfigError
from small_runs import QUIET, numbered_log, small, vector_log


@pytest.fixture(autouse=True)
def plant(monkeypatch):
    """A user's module."""
    module = ModuleType("plant")
    module.paid = lambda obs, action, next_obs: next_obs[0] - 2 * action[0] + obs[1]
    module.chosen = lambda obs, action, next_obs: jnp.where(action == 2, 1.0, 0.0)
    module.wide = lambda obs, action, next_obs: obs
    module.broken = lambda obs: obs[0]
    monkeypatch.setitem(sys.modules, "plant", module)


def test_actions_come_in_the_logs_own_numbers():
    layout, reward = Layout.of(load(vector_log())), KnownReward.of("plant:paid")
    assert reward is not None
    # Bounds 0 and 2: an action of 0.5 is 1.5.
    obs, after = jnp.array([[1.0, 5.0]]), jnp.array([[7.0, 0.0]])
    np.testing.assert_allclose(reward(layout, obs, jnp.array([[0.5]]), after), [7 - 3 + 5])


def test_a_discrete_action_comes_as_its_number():
    layout, reward = Layout.of(load(numbered_log())), KnownReward.of("plant:chosen")
    assert reward is not None
    both = jnp.zeros((2, 1))
    np.testing.assert_allclose(reward(layout, both, jnp.eye(3)[1:], both), [0, 1])


def test_none_is_none():
    assert KnownReward.of(None) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plant:wide", "must turn one observation"),
        ("plant:broken", "must turn one observation"),
        ("plant:absent", "could not be imported"),
        ("nowhere:paid", "could not be imported"),
        ("plant", "names no function"),
    ],
)
def test_what_is_no_reward_is_refused_in_a_sentence(name, words, tmp_path):
    with pytest.raises(ConfigError, match=words):
        check_reward(name, load(vector_log()))
    config = small("mopo", reward_function=name)
    with pytest.raises(ConfigError, match=words):
        train(config, vector_log(), out=tmp_path / "run", **QUIET)
    assert not (tmp_path / "run").exists()


def test_a_run_needs_it_said_again(tmp_path):
    config = small("mopo", reward_function="plant:paid")
    run = train(config, vector_log(), out=tmp_path / "run", **QUIET)
    with pytest.raises(RunError, match="--reward-function plant:paid"):
        resume(run.path, data=vector_log(), quiet=True)
    again = resume(run.path, data=vector_log(), reward_function="plant:paid", quiet=True)
    assert again.finished
