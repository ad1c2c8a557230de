"""Rollouts in a model that is the truth, and cuts where nothing was logged."""

from dataclasses import replace

import numpy as np
import pytest

from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import GAINS, Estimate, Refusal
from countmorl.evaluation.behaviour import behaviour
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.model_value import CARRIED, MOST, STRETCHES, ModelValue, Rolled, _Apart
from countmorl.evaluation.stepping import ROLLOUTS
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
    alike = rolled(np.tile(judge.earned, (2, 1)))  # A clone that earns what the log did.
    found = judge(always(0.5, data), alike, log)
    assert isinstance(found, Estimate)
    gain, low, high = (found.facts[name] for name in GAINS)
    assert gain == pytest.approx(found.value - judge.earned.mean())
    assert low < gain < high
    flattered = judge(always(0.5, data), rolled(alike.values + 1), log)
    assert flattered.facts["gain"] == pytest.approx(gain - 1)
    assert flattered.facts["gain_low"] == pytest.approx(low - 1)
    assert flattered.facts["gain_high"] == high
    lowered = judge(always(0.5, data), rolled(alike.values - 50), log)
    assert lowered.facts["gain"] == pytest.approx(found.value - log.value)  # It must beat the log.


def test_differences_are_known_better_than_values():
    """Starts are worth 0, 20 and 40, the policy 3 more than that at each."""
    starts = np.array([0.0, 20.0, 40.0])
    found = rolled(np.tile(starts + 3, (4, 1)))
    assert found.interval(0)[0] < 10
    apart = _Apart.of(found, starts, 0)
    assert (apart.value, apart.low, apart.high) == (3, 3, 3)
    log = Estimate(value=0.0, interval=(-1.0, 2.0), unit="", made_by="")
    unsure = _Apart.of(found, starts, 0, log)
    assert (unsure.value, unsure.low, unsure.high) == (3, 1, 4)


def test_the_logs_mean_tells_more_where_its_episodes_earned_anything_from_one_start():
    data = linear_log(60)
    judge, log = judge_of(data), behaviour(data, MEASURE)
    assert isinstance(log, Estimate)
    assert log.interval is not None
    clone = rolled(np.tile(judge.earned, (2, 1)))
    apart = judge._gain(rolled(np.full(clone.values.shape, 3.0)), rolled(clone.values * 0), log)
    assert apart["gain_low"] == pytest.approx(3 - log.interval[1])  # All are worth the same.


def test_what_was_earned_from_each_start_on():
    data = linear_log(60)
    judge = judge_of(data)
    starts = judge._stepper.rows[: len(judge.earned)]
    episodes = data.reward.reshape(60, 30)[starts // 30]
    known = episodes @ 0.9 ** np.arange(30)
    # What follows the last logged step is worth at most 0.9^30 / 0.1 of a reward.
    np.testing.assert_allclose(judge.earned, known, atol=0.5 * np.abs(data.reward).max())


def test_a_stream_is_known_as_well_as_its_mean():
    data = linear_log(1, 400)
    judge, log = judge_of(data), behaviour(data, MEASURE)
    assert isinstance(log, Estimate)
    clone = judge.roll(always(0.0, data))
    wide = replace(log, interval=(log.value - 50, log.value + 50))
    lows = [judge(always(0.5, data), clone, each).facts["gain_low"] for each in (log, wide)]
    assert lows[1] < lows[0] - 20


def test_of_short_episodes_there_are_more_rollouts():
    data = linear_log(300, 10)
    assert len(judge_of(data).earned) == MOST  # 44 steps count at a discount of 0.9.
    assert len(judge_of(data, measure=Measure(discount=0.999)).earned) == ROLLOUTS


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
