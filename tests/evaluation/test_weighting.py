"""Importance weighting by hand, and against exact values."""

from itertools import product

import numpy as np
import pytest

from countmorl import load
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.propensity import Propensities
from countmorl.evaluation.weighting import Weighted, table, weighting
from worlds import chain_log, chain_value, linear_log

MEASURE = Measure(discount=0.9)


def of(values, **more):
    """Chances of the logged actions."""
    return Propensities(values=values, made_by="hand", **more)


def bandit():
    """Two steps of a bandit with a mood that nobody sees: 1 pays 1 in a good mood, else nothing.

    In a good mood the log takes 1 with a chance of 0.8, in a bad one of 0.2, and moods are as
    often good as bad: of ten steps 4, 1, 1 and 4. Every pair of them is one of 100 episodes.
    """
    good, one = np.repeat([[1, 1, 0, 0], [1, 0, 1, 0]], [4, 1, 1, 4], axis=1)
    steps = np.array(list(product(range(10), repeat=2))).reshape(-1)
    return load(
        {
            "obs": np.tile([0.0, 1.0], 100),
            "action": one[steps],
            "reward": (good * one)[steps].astype(float),
            "terminated": np.tile([False, True], 100),
            "action_count": np.array(2),
            "propensity": np.where(good == one, 0.8, 0.2)[steps],
        }
    )


def test_logged_chances_give_the_value_that_a_clone_cannot():
    """Always 1 is worth 0.5 + 0.9 * 0.5. A clone sees no mood: 1 is taken at half of the steps, of
    which 0.8 are good ones, so by its chances it would be 0.8 + 0.9 * 0.8."""
    data = bandit()
    always = Actor.of(lambda obs: np.ones(len(obs), int), data)
    zeros = np.zeros(len(data))
    ask = lambda likely: weighting(Logged(dataset=data), always, likely, zeros, zeros, MEASURE)  # noqa: E731
    logged = ask(of(data.propensity))
    assert logged["weighted"].value == pytest.approx(0.95)
    assert logged["weighted"].facts["gain"] == pytest.approx(0.95 - 0.4 * 1.9)
    # Of the first steps 4 weigh 1 / 0.8 and one 1 / 0.2; of the second, their products.
    first, second = np.repeat([1.25, 5], [4, 1]), [1.5625] * 16 + [6.25] * 8 + [25]
    size = lambda weights: np.sum(weights) ** 2 / np.square(weights).sum()  # noqa: E731
    wanted = (10 * size(first) + size(second)) / 2
    assert logged["weighted"].facts["effective_episodes"] == pytest.approx(wanted)
    cloned = ask(of(np.full(200, 0.5)))
    assert cloned["weighted"].value == pytest.approx(0.8 * 1.9)
    assert cloned["weighted"].made_by == "100 logged episodes, weighted by hand"


def test_what_the_chances_say_of_themselves_is_told():
    data, zeros = bandit(), np.zeros(200)
    always = Actor.of(lambda obs: np.ones(len(obs), int), data)
    refused = of(zeros + 0.5, why="they are wrong.", facts={"logged_propensities": 0.0})
    for each in weighting(Logged(dataset=data), always, refused, zeros, zeros, MEASURE).values():
        assert isinstance(each, Refusal)
        assert each.why == "they are wrong."
        assert each.facts["logged_propensities"] == 0.0


def test_weights_of_hundreds_of_steps_are_numbers():
    """0.5 each 1,200 times is 1e-361, and its inverse beyond all numbers; of two episodes that are
    alike each is half."""
    data = load(
        {
            "obs": np.zeros(2400),
            "action": np.ones(2400, int),
            "reward": np.ones(2400),
            "truncated": np.arange(2400) % 1200 == 1199,
            "action_count": np.array(2),
        }
    )
    zeros, measure = np.zeros(2400), Measure(discount=1.0, horizon=1200)
    found = table(Logged(dataset=data), np.full(2400, 2.0), zeros, zeros, measure)
    assert found.effective == pytest.approx(2)
    assert found.estimates(np.arange(2))[0] == pytest.approx(1200)


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
    found = weighting(Logged(dataset=data), actor, of(likely), zeros, zeros, MEASURE)
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
    found = weighting(logged, Actor.of(act, data), of(zeros + 0.1), zeros, zeros, MEASURE)
    for each in found.values():
        assert isinstance(each, Refusal)
        assert why in each.why
