"""Units do not matter: in others a log gives the same codes, penalties, metrics and actions."""

import re

import numpy as np
import pytest

from countmorl import load_policy, train
from countmorl.agents.base import VALUES
from countmorl.algorithms import ALGORITHMS
from small_runs import QUIET, numbered_log, small, vector_log

pytestmark = pytest.mark.slow

REWARD = 2.0**-13
OBS = np.array([2.0**10, 2.0**-7], np.float32)
ACTION = np.array([2.0**5], np.float32)
IN_REWARDS = {*VALUES, "rollout_penalty"}


def in_units(log, obs=OBS, action=ACTION, reward=REWARD):
    """The same log in other units, each column in its own."""
    scaled = log | {"reward": (log["reward"] * np.float32(reward)).astype(np.float32)}
    scaled |= {key: log[key] * obs for key in ("obs", "next_obs")}
    if "action_low" in log:
        scaled |= {key: log[key] * action for key in ("action", "action_low", "action_high")}
    return scaled


def own_unit(name, value, reward=REWARD):
    """A metric of the log in other units, brought back."""
    power = 1 if name in IN_REWARDS else 2 if name == "critic_loss" else 0
    return np.asarray(value, float) / reward**power


def same_run(run, other, compare, reward=REWARD):
    """Every metric of both runs, and every code that was counted."""
    lines, others = (list(each.lines("metrics.jsonl")) for each in (run, other))
    assert len(lines) == len(others) > 0
    for line, scaled in zip(lines, others, strict=True):
        assert line.keys() == scaled.keys()
        for name in line.keys() - {"stage"}:
            compare(own_unit(name, scaled[name], reward), np.asarray(line[name], float), name)
    assert run.stages() == other.stages()
    for stage in run.stages():
        arrays, scaled = (each.load_result(stage)[0] for each in (run, other))
        for name in arrays:  # Networks, optimisers, codes and counts: all but the scales.
            if not re.search(r"(^|\W)(standardizer|targets|unit)\b", name):
                compare(scaled[name], arrays[name], f"{stage}: {name}")


def exactly(got, wanted, name):
    np.testing.assert_array_equal(got, wanted, err_msg=name)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_powers_of_two_change_no_bit(name, finished_small, tmp_path):
    log, run = vector_log(), finished_small(name).run
    other = train(small(name), in_units(log), out=tmp_path / "other", **QUIET)
    same_run(run, other, exactly)
    actions = load_policy(run.path).act(log["obs"])
    np.testing.assert_array_equal(load_policy(other.path).act(log["obs"] * OBS), actions * ACTION)


@pytest.mark.parametrize("name", ["count-morl", "cql"])
def test_neither_do_they_where_actions_are_discrete(name, tmp_path):
    log = numbered_log()
    run = train(small(name), log, out=tmp_path / "run", **QUIET)
    other = train(small(name), in_units(log, obs=OBS[:1]), out=tmp_path / "other", **QUIET)
    same_run(run, other, exactly)
    numbers = load_policy(run.path).act(log["obs"])
    np.testing.assert_array_equal(load_policy(other.path).act(log["obs"] * OBS[:1]), numbers)


def test_nor_where_ends_are_learned_without_next_observations(tmp_path):
    log = vector_log()
    del log["next_obs"]
    scale = lambda arrays: {**arrays, "next_obs": arrays["obs"]}  # noqa: E731
    other = in_units(scale(log))
    del other["next_obs"]
    runs = [
        train(small("mopo", termination=None), arrays, out=tmp_path / name, **QUIET)
        for name, arrays in (("run", log), ("other", other))
    ]
    same_run(*runs, exactly)


@pytest.mark.parametrize("name", ["count-morl", "td3-bc"])
def test_other_factors_change_nothing_but_rounding(name, tmp_path):
    log, obs, action = vector_log(), np.array([1000, 0.003], np.float32), np.float32(7)
    scaled = in_units(log, obs=obs, action=action, reward=1e-3)
    config = small(name, epochs=1)
    run = train(config, log, out=tmp_path / "run", **QUIET)
    other = train(config, scaled, out=tmp_path / "other", **QUIET)
    first, second = (next(iter(each.lines("metrics.jsonl"))) for each in (run, other))
    for key in first.keys() - {"stage"}:
        np.testing.assert_allclose(own_unit(key, second[key], 1e-3), first[key], rtol=1e-3)
    actions = load_policy(run.path).act(log["obs"])
    np.testing.assert_allclose(
        load_policy(other.path).act(log["obs"] * obs), actions * action, atol=0.01 * float(action)
    )
