"""Rollouts in a model that is the truth, and cuts where nothing was logged."""

from dataclasses import replace

import numpy as np
import pytest

from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.behaviour import behaviour
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.model_value import CARRIED, STRETCHES, ModelValue, Rolled, _gain
from countmorl.evaluation.support import Support
from worlds import linear_log, linear_value, never, true_model

MEASURE = Measure(discount=0.9)


def judge_of(data, rule=never, measure=MEASURE):
    parts = {"logged": Logged(dataset=data), "support": Support.of(data, None)}
    return ModelValue(model=true_model(rule), measure=measure, **parts)


def always(action, data):
    return Actor.of(lambda obs: np.full((len(obs), 1), action), data)


def rolled(values, way_cut=0.0, lost=0.0):
    return Rolled(
        values=np.array(values), way_cut=way_cut, cut=way_cut, thin=0.0, length=9, lost=lost
    )


def test_the_closed_form_of_a_linear_system():
    data = linear_log()
    found = judge_of(data).roll(always(0.5, data))
    # Beyond the discount's end, a hundredth, the log's usual reward of about 0 counts.
    assert found.value == pytest.approx(linear_value(0.5, 0.9), abs=0.06)
    assert (found.cut, found.way_cut, found.length) == (0, 0, MEASURE.steps)


def test_a_plain_sum_to_the_end_of_the_task():
    """Always 0.5 from 0: s = 0, 0.05, 0.095, 0.1355, and the step that leads beyond 0.15 ends."""
    data = linear_log()
    judge = judge_of(data, lambda obs: obs[0] > 0.15, Measure(discount=1.0, horizon=20))
    found = judge.roll(always(0.5, data))
    assert found.value == pytest.approx(0.05 + 0.095 + 0.1355)
    assert found.length == 4


def test_what_was_never_logged_is_cut_and_valued_at_the_worst():
    data = linear_log(60, pull=0.9)
    judge = judge_of(data)
    found = judge.roll(always(-1.0, data))
    assert (found.cut, found.way_cut) == (1, 1)
    worst = min(data.reward.reshape(60, 30).mean(axis=1))
    assert found.value == pytest.approx(worst * 10, rel=1e-5)
    assert found.lost == pytest.approx(10 * (data.reward.mean() - worst), rel=1e-4)


def test_an_opinion_has_its_gain_on_the_log():
    data = linear_log()
    judge = judge_of(data)
    log = behaviour(data, MEASURE)
    assert isinstance(log, Estimate)
    shape = judge.roll(always(0.5, data)).values.shape
    found = judge(always(0.5, data), rolled(np.full(shape, log.value)), log)
    assert isinstance(found, Estimate)
    assert found.facts["gain"] == pytest.approx(found.value - log.value)
    assert found.facts["gain_low"] < found.facts["gain"] < found.facts["gain_high"]
    flattered = judge(always(0.5, data), rolled(np.full(shape, log.value + 1)), log)
    assert flattered.facts["gain"] == pytest.approx(found.facts["gain"] - 1)


LOG = Estimate(value=10.0, interval=(8.0, 12.0), unit="", made_by="")
"""A log that is not known well."""


def test_a_policy_and_the_clone_are_compared_start_by_start():
    """Starts are worth anything from 0 to 40, the policy 3 more than the clone at each."""
    clone = rolled([[0.0, 20.0, 40.0]] * 3)
    gain = _gain(rolled(clone.values + 3), clone, LOG, seed=0)
    # The clone is worth 20, and between 0 and 40: it may be short of the log, by up to 10 or so.
    assert gain["gain"] == 3
    assert gain["gain_low"] < 0
    sure = rolled([[20.0, 20.0, 20.0]] * 3)
    assert _gain(rolled(sure.values + 3), sure, LOG, seed=0)["gain_low"] == pytest.approx(3)


@pytest.mark.parametrize(("clone", "low"), [(7.0, 3.0 - 5.0), (11.0, 3.0 - 1.0), (12.5, 3.0)])
def test_a_gain_is_lowered_by_what_the_clone_may_be_short_of_the_log(clone, low):
    """Short of 10, known to within 2, by 3, -1 and -2.5: at the most by 5, 1 and nothing."""
    clone = rolled([[clone] * 3] * 3)
    found = _gain(rolled(clone.values + 3), clone, LOG, seed=0)
    assert found["gain_low"] == pytest.approx(low)
    assert found["gain_high"] == pytest.approx(3 - (10 - clone.value) + 2)


@pytest.mark.parametrize(
    ("action", "clone_cut", "why"),
    [
        (-1.0, 0.0, "100% of its way lies behind pairs that were never logged."),
        (0.9, 0.4, "even a clone of the log leaves what is known in 40% of its way"),
    ],
)
def test_refusals(action, clone_cut, why):
    data = linear_log(60, pull=0.9)
    log = behaviour(data, MEASURE)
    judge = judge_of(data)
    shape = judge.roll(always(action, data)).values.shape
    found = judge(always(action, data), rolled(np.ones(shape), clone_cut), log)
    assert isinstance(found, Refusal)
    assert found.why.startswith(why)


def test_the_median_of_the_elites_and_its_interval():
    found = rolled([[1.0, 3.0], [2.0, 4.0], [9.0, 9.0]])
    assert found.value == 3.0
    low, high = found.interval(0)
    assert low < 3.0 < high


def test_cuts_are_as_far_out_as_a_clone_needs():
    data = linear_log()
    judge, still = judge_of(data), always(0.0, data)
    same, carried = judge.carrying(still, 0.0)
    assert (same.stretch, carried.way_cut) == (1.0, 0.0)

    def limited(limit):
        return replace(judge, support=replace(judge.support, limit=limit.astype(np.float32)))

    none, lost = limited(judge.support.limit / 1e6).carrying(still, 0.0)
    assert (none.stretch, lost.way_cut) == (STRETCHES[-1], 1.0)
    a_little_short = judge.support.limit * judge.trace(still).far.max() / 1.4
    found, carried = limited(a_little_short).carrying(still, 0.0)
    assert found.stretch in STRETCHES[1:-1]
    assert carried.way_cut <= CARRIED


@pytest.mark.parametrize(("log", "noise"), [(1.0, 0.0), (-50.0, 1.0)])
def test_noise_is_drawn_where_a_clone_is_then_worth_what_the_log_earned(monkeypatch, log, noise):
    data = linear_log()
    worth = {1.0: -50.0, 0.0: 0.0}
    monkeypatch.setattr(
        ModelValue, "worth", lambda self, trace: rolled([[worth[self.noise]] * 9] * 2)
    )
    judge, carried = judge_of(data).carrying(always(0.0, data), log)
    assert judge.noise == noise
    assert carried.value == worth[noise]
