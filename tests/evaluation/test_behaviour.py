"""What the log earned."""

import numpy as np
import pytest

from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.behaviour import behaviour, mean_interval
from countmorl.evaluation.measure import Measure
from worlds import chain_log, chain_value, linear_log


def test_the_mean_over_episodes_and_the_exact_value_within():
    found = behaviour(chain_log(300), Measure(discount=0.9))
    assert isinstance(found, Estimate)
    low, high = found.interval
    assert low < chain_value(0.5) < high
    assert high - low < 0.1
    assert found.unit == "discounted return (0.9)"
    assert found.facts["episodes"] == 300


def test_one_stream_is_valued_by_its_mean_reward():
    data = linear_log(1, 400, pull=0.5)
    found = behaviour(data, Measure(discount=0.9))
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(10 * data.reward.mean(), rel=1e-5)
    assert found.interval[0] < found.value < found.interval[1]
    assert found.facts["blocks"] == 20


def test_a_few_rows_of_one_stream_say_nothing():
    found = behaviour(linear_log(1, 10), Measure(discount=0.9))
    assert isinstance(found, Refusal)
    assert found.why == "10 rows of one stream say nothing of its mean."


def test_intervals_of_few_values_are_those_of_students_t():
    rng = np.random.default_rng(0)
    inside = 0
    for trial in range(300):
        low, high = mean_interval(rng.standard_normal(6), seed=trial)
        inside += low < 0 < high
    assert inside >= 0.92 * 300
    values = rng.standard_normal(5000)
    low, high = mean_interval(values, seed=0)
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 5000**0.5, rel=0.1)
