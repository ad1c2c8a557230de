"""Importance weighting by hand, and against exact values."""

import numpy as np
import pytest

from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.weighting import Weighted, weighting
from worlds import chain_log, chain_value, linear_log

MEASURE = Measure(discount=0.9)


def test_two_episodes_by_hand():
    """Weights 2, 4 and 1, 0: rewards 1, 1 each. (2 + 1) / 3 + (4 + 0) / 4, and no critics."""
    tables = Weighted(
        weight=np.array([[2.0, 4.0], [1.0, 0.0]]),
        reward=np.array([[1.0, 1.0], [1.0, 5.0]]),
        q=np.zeros((2, 2)),
        value=np.zeros((2, 2)),
    )
    assert tables.estimates(np.arange(2)) == pytest.approx((2.0, 2.0))
    assert tables.effective == pytest.approx((9 / 5 + 1) / 2)


def test_exact_critics_leave_nothing_to_the_weights():
    """Deterministic: r = 1 then 2, Q exact. Whatever the weights, V = 1 + 2."""
    tables = Weighted(
        weight=np.array([[2.0, 4.0], [1.0, 0.5]]),
        reward=np.array([[1.0, 2.0], [1.0, 2.0]]),
        q=np.array([[3.0, 2.0], [3.0, 2.0]]),
        value=np.array([[3.0, 2.0], [3.0, 2.0]]),
    )
    assert tables.estimates(np.arange(2))[1] == pytest.approx(3.0)


def test_the_exact_value_of_another_policy_lies_within():
    data = chain_log(400, on=0.8)
    actor = Actor.of(lambda obs: np.ones(len(obs), int), data)
    likely = np.where(data.action[:, 1] == 1, 0.8, 0.2)
    zeros = np.zeros(len(data))
    found = weighting(Logged(dataset=data), actor, likely, zeros, zeros, MEASURE)
    for name in ("weighted", "doubly robust"):
        each = found[name]
        assert isinstance(each, Estimate)
        assert each.interval[0] < chain_value(1.0) < each.interval[1]
        assert each.facts["gain_low"] < chain_value(1.0) - chain_value(0.8)
        assert each.facts["effective_episodes"] > 20


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (linear_log(6, 5), "actions are vectors"),
        (chain_log(30, on=0.1), "of 30 episodes are left to speak for the policy, and 20"),
        (chain_log(4), "a log without episodes"),
    ],
)
def test_refusals(data, why):
    act = lambda obs: np.ones(len(obs), int) if data.discrete else np.ones((len(obs), 1))  # noqa: E731
    logged, zeros = Logged(dataset=data), np.zeros(len(data))
    found = weighting(logged, Actor.of(act, data), zeros + 0.1, zeros, zeros, MEASURE)
    for each in found.values():
        assert isinstance(each, Refusal)
        assert why in each.why
