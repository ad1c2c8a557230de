import sys

import jax.random as jr
import numpy as np
import pytest

from countmorl import Policy, load, train
from countmorl.algorithms.bc import BC
from countmorl.errors import ConfigError
from models import policy_of

GAIN = np.array([[0.3, -0.1], [0.1, 0.2], [-0.2, 0.25]])
LEARNER = BC(epochs=4, updates=250, batch=64, hidden=(32,), learning_rate=3e-3)


def behaviour(obs, middle, half):
    """What the logged controller means to do, before its noise."""
    return middle + half * np.tanh(obs @ GAIN)


def noisy_log(middle, half, noise=0.05):
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((2000, 3)) * [1, 10, 0.1] + [0, 50, 3]
    inputs = (obs - [0, 50, 3]) / [1, 10, 0.1]
    meant = behaviour(inputs, middle, half)
    action = meant + half * noise * rng.standard_normal(meant.shape)
    action = np.clip(action, middle - half, middle + half)
    return {"obs": obs, "action": action, "reward": np.zeros(2000)}, meant


@pytest.mark.parametrize(
    ("middle", "half"), [(0.0, 1.0), (2.5, 2.5), (-300.0, 20.0)], ids=["one", "0 to 5", "far"]
)
def test_the_cloned_policy_does_what_the_log_meant(tmp_path, middle, half):
    log, meant = noisy_log(middle, half)
    bounds = {"action_low": middle - half, "action_high": middle + half}
    run = train(LEARNER, log | bounds, out=tmp_path / "run", quiet=True)
    policy = Policy.load(run.path)
    error = np.abs(policy.act(log["obs"]) - meant).mean() / half
    # The noise is 0.05; a policy that gave the mean action would be off by about 0.28.
    assert error < 0.03
    assert np.abs(meant - meant.mean(axis=0)).mean() / half > 0.2
    np.testing.assert_array_equal(policy.space.low, np.float32(middle - half))


def test_the_loss_falls_to_the_variance_of_the_noise(tmp_path):
    log, _ = noisy_log(0.0, 1.0)
    log |= {"action_low": -1.0, "action_high": 1.0}
    metrics = train(LEARNER, log, out=tmp_path / "run", quiet=True).lines("metrics.jsonl")
    assert metrics[0]["loss"] > metrics[-1]["loss"]
    assert metrics[-1]["loss"] == pytest.approx(0.05**2, rel=0.2)


def test_a_log_without_a_task_needs_no_simulator(tmp_path, monkeypatch, log):
    for package in ("gymnasium", "mujoco", "minari"):
        monkeypatch.setitem(sys.modules, package, None)
    run = train(BC(epochs=4, updates=3, batch=8, hidden=(8,)), log(), out=tmp_path / "run")
    assert [sorted(line) for line in run.lines("metrics.jsonl")] == [["epoch", "loss", "stage"]] * 4
    assert Policy.load(run.path).info["task"] is None


def test_rows_without_a_next_observation_are_learned_from(tmp_path):
    """Imitation needs none: every row is the end of an episode here."""
    log, meant = noisy_log(0.0, 1.0)
    log["truncated"] = np.ones(2000, bool)
    run = train(LEARNER, log, out=tmp_path / "run", quiet=True)
    assert np.abs(Policy.load(run.path).act(log["obs"]) - meant).mean() < 0.03


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"hidden": (8, 0)}, "`hidden`"),
        ({"learning_rate": 0.0}, "`learning_rate` must be a number above 0"),
        ({"learning_rate": float("inf")}, "`learning_rate`"),
    ],
)
def test_settings_out_of_range(settings, words):
    with pytest.raises(ConfigError, match=words):
        BC(**settings)


def test_without_hidden_layers_it_is_linear(log):
    policy = policy_of(BC(hidden=()).agent(load(log()), key=jr.key(0)))
    assert [weight.shape for weight in policy.weights] == [(3, 2)]
