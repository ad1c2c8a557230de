"""Guards of a linear system: the policy leaves the log, its fall-back stays."""

import numpy as np
import pytest

from countmorl.coverage.density import neighbours_of
from countmorl.envs.tasks import find_task
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.model_value import ModelValue
from countmorl.evaluation.support import Support
from countmorl.guarding.curve import Trial
from countmorl.guarding.thresholds import HeldOut
from countmorl.runtime.guard import Guard, GuardSettings
from runtime.test_guard import Always
from worlds import linear_log, true_model


@pytest.fixture(scope="module")
def trial():
    data = linear_log(60, pull=0.4)
    counts = neighbours_of(data, None)
    value = ModelValue(
        model=true_model(),
        support=Support.of(data, None),
        logged=Logged(dataset=data),
        measure=Measure(discount=0.9),
    )
    held = HeldOut.of(data, counts)
    guard = Guard(
        policy=Always(-1.0),
        counts=counts,
        settings=held.settings(0.05, dwell=2),
        clone=Always(0.5),
    )
    return Trial(guard=guard, held=held, space=data.space, value=value)


def test_a_guarded_policy_is_worth_what_its_fall_back_is(trial):
    alone, guarded, back = trial.unguarded(), trial.at(0.05), trial.fall_back()
    assert alone.way_cut == 1
    assert alone.value < 0 < back.value
    assert guarded.imagined > 0.9
    assert guarded.at_logged > 0.9
    assert guarded.value == pytest.approx(back.value, rel=0.05)
    assert (alone.imagined, back.imagined) == (0, 1)
    assert guarded.held_out < 0.05 + 0.02


def test_who_abstains_cannot_be_rolled_out(trial):
    guard = Guard(
        policy=Always(-1.0),
        counts=trial.guard.counts,
        settings=GuardSettings(threshold=1.0, fall_back="abstain"),
    )
    silent = Trial(guard=guard, held=trial.held, space=trial.space, value=trial.value)
    point = silent.at(0.05)
    assert (silent.acts, point.value, point.imagined) == (False, None, None)
    assert point.at_logged > 0.9
    assert silent.unguarded().value == trial.unguarded().value


def test_play_in_the_simulator():
    pytest.importorskip("gymnasium")
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((200, 3)).astype(np.float32)
    from countmorl import load

    data = load(
        {
            "obs": obs,
            "next_obs": obs,
            "action": rng.uniform(-2, 2, (200, 1)).astype(np.float32),
            "action_low": np.full(1, -2.0),
            "action_high": np.full(1, 2.0),
            "reward": -np.ones(200, np.float32),
            "truncated": np.arange(200) % 20 == 19,
        }
    )
    counts = neighbours_of(data, None)
    held = HeldOut.of(data, counts)
    guard = Guard(
        policy=Always(2.0, obs_dim=3),
        counts=counts,
        settings=held.settings(0.1, fall_back="fixed", fixed=(0.0,)),
    )
    task = find_task("Pendulum-v1")
    trial = Trial(guard=guard, held=held, space=data.space, task=task, episodes=2)
    point = trial.at(0.1)
    assert point.value is None
    assert point.played.returns < 0
    assert point.played.score is None
    assert 0 < point.played.rate <= 1
    assert trial.unguarded().played.rate == 0
    assert trial.fall_back().played.rate == 1
