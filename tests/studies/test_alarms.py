import numpy as np
import pytest

from countmorl.errors import DataError
from countmorl.monitoring.training import batch_of
from countmorl.studies.alarms import DRIFTS, alarm_rates
from monitored import dataset


def test_drifts_by_hand():
    batch = batch_of(dataset(episodes=2), np.arange(40))
    std = np.array([2.0, 1.0])
    changed = {name: drift(batch, std) for name, drift in DRIFTS.items()}
    assert changed["none"] is batch
    assert np.array_equal(changed["one column x 1000"].obs[:, 0], 1000 * batch.obs[:, 0])
    assert np.allclose(changed["one column + 1 deviation"].next_obs[:, 0], batch.next_obs[:, 0] + 2)
    middle = np.median(batch.action)
    assert np.allclose(
        changed["actions x 1.5"].action, 1.5 * batch.action - 0.5 * middle, atol=1e-6
    )
    moved = changed["one column changes by 1.5 times as much"]
    assert np.array_equal(moved.obs, batch.obs)
    assert np.allclose(
        moved.next_obs[:, 0] - moved.obs[:, 0], 1.5 * (batch.next_obs - batch.obs)[:, 0], atol=1e-5
    )
    less = changed["rewards - 0.5 deviations"].reward
    assert np.allclose(batch.reward - less, 0.5 * batch.reward.std())
    for each in changed.values():
        assert np.array_equal(each.obs[:, 1], batch.obs[:, 1])


@pytest.mark.slow
def test_false_alarms_are_rare_and_drifts_are_noticed():
    drifts = ("none", "one column x 1000", "rewards - 0.5 deviations")
    found = alarm_rates(
        dataset(episodes=160), sizes=(10,), asked=(0.05,), splits=2, logs=60, drifts=drifts
    )
    rates = {each.drift: each.alarms for each in found}
    assert rates["none"] <= 0.1
    assert rates["one column x 1000"] == 1
    assert rates["rewards - 0.5 deviations"] > 0.5
    assert {each.logs for each in found} == {120}


def test_choices_drift_too():
    batch = batch_of(dataset(episodes=2), np.arange(40))
    from dataclasses import replace

    numbered = replace(batch, action=np.eye(3, dtype=np.float32)[np.arange(40) % 3])
    turned = DRIFTS["actions x 1.5"](numbered, np.ones(2)).action
    assert np.array_equal(turned.argmax(axis=1), (np.arange(40) + 1) % 3)


def test_a_log_that_is_too_short():
    with pytest.raises(DataError, match="60 episodes; logs of 20 want 80"):
        alarm_rates(dataset())
