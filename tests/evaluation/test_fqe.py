"""Critics against values that are known exactly."""

import numpy as np
import pytest

from countmorl.evaluation.acting import Actor
from countmorl.evaluation.fqe import FQEConfig, fit_q, interval
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from worlds import chain_log, chain_value, linear_log, linear_value

SMALL = FQEConfig(members=3, hidden=(32,), updates=200, batch=64, rate=3e-3, polyak=0.05)


def fitted(data, act, measure, config=SMALL):
    actor, logged = Actor.of(act, data), Logged(dataset=data)
    starts = actor(data.obs[logged.starts])
    return fit_q(logged, actor(data.next_obs), starts, measure, config=config)


def test_a_finite_world_with_ends():
    """Going on always is worth 0.8 (0.72 / (1 - 0.18))^2 / (1 - 0.18); staying 0.1 / (1 - 0.9)."""
    assert chain_value(1.0) == pytest.approx(0.8 * (0.72 / 0.82) ** 2 / 0.82)
    assert chain_value(0.0) == pytest.approx(1.0)
    on = fitted(chain_log(200), lambda obs: np.ones(len(obs), int), Measure(discount=0.9))
    assert on.settled
    assert on.value == pytest.approx(chain_value(1.0), abs=0.05)


def test_a_linear_system_that_never_ends():
    up = fitted(linear_log(), lambda obs: np.full((len(obs), 1), 0.5), Measure(discount=0.9))
    assert up.settled
    assert up.value == pytest.approx(linear_value(0.5, 0.9), abs=0.15)
    low, high = interval(up.values)
    assert low < up.value < high


def test_a_plain_sum_over_a_horizon():
    """Always 0.5 from 0: s_t = 0.5 (1 - 0.9^t), five of which are 2.5 - 0.5 (1 - 0.9^5) / 0.1."""
    data, measure = linear_log(), Measure(discount=1.0, horizon=5)
    found = fitted(data, lambda obs: np.full((len(obs), 1), 0.5), measure)
    assert found.value == pytest.approx(2.5 - 5 * (1 - 0.9**5), abs=0.1)


def test_too_few_epochs_do_not_settle():
    short = FQEConfig(members=2, hidden=(8,), updates=1, batch=8, least=2, most=4)
    found = fitted(linear_log(), lambda obs: np.ones((len(obs), 1)), Measure(discount=0.9), short)
    assert (found.settled, found.epochs) == (False, 4)


def test_an_interval_by_hand():
    """Two values 0 and 2: mean 1, deviation sqrt(2), Student's t of one degree 12.706."""
    low, high = interval(np.array([0.0, 2.0]))
    assert (high - 1, 1 - low) == pytest.approx((12.706 * 2**0.5,) * 2, rel=1e-3)
