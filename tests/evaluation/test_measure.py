"""Sums of rewards, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl import load
from countmorl.errors import ConfigError
from countmorl.evaluation.measure import DISCOUNT, Measure, usual_reward


def log(rewards, terminated=(), truncated=()):
    rows = len(rewards)
    flags = {"terminated": np.zeros(rows, bool), "truncated": np.zeros(rows, bool)}
    flags["terminated"][list(terminated)] = True
    flags["truncated"][list(truncated)] = True
    steps = np.arange(rows + 1, dtype=np.float32)[:, None]
    arrays = {"obs": steps[:-1], "action": np.linspace(-1, 1, rows)[:, None], "next_obs": steps[1:]}
    return load(arrays | {"reward": np.array(rewards, np.float32)} | flags)


def test_an_episode_that_ended_is_added_up_to_its_end():
    earned = Measure(discount=0.5).earned(log([1, 2, 4, 8], terminated=[2, 3]))
    assert earned.values.tolist() == [1 + 1 + 1, 8]
    assert earned.beyond.tolist() == [0, 0]


def test_an_episode_that_was_cut_goes_on_at_the_usual_rate():
    data = log([1, 1, 3, 3], truncated=[1, 3])
    earned = Measure(discount=0.5).earned(data)
    # Two steps are logged; the steps from the third on weigh 0.25 + 0.125 + ... = 0.5.
    assert earned.beyond == pytest.approx([0.5, 0.5])
    assert earned.values == pytest.approx([1.5 + 0.5 * 2, 4.5 + 0.5 * 2])


def test_where_tasks_end_the_usual_rate_is_lower():
    data = log([2, 2, 2, 2], terminated=[3])
    # V = 2 + 0.5 * 0.75 V is 3.2; the weights add up to 2.
    assert usual_reward(data, Measure(discount=0.5)) * 2 == pytest.approx(3.2)
    assert usual_reward(data, Measure(discount=1.0, horizon=9)) == 2


def test_a_plain_sum_over_a_horizon():
    measure = Measure(discount=1.0, horizon=3)
    earned = measure.earned(log([1, 2, 4, 8, 5, 5], terminated=[3], truncated=[5]))
    # Four steps, of which three count; two steps, and one more at the mean of 25 / 6.
    assert earned.values == pytest.approx([7, 10 + 25 / 6])
    assert (measure.steps, measure.weights.tolist()) == (3, [1, 1, 1])
    assert measure.rest(1) == 2
    assert measure.unit == "sum over 3 steps"


@given(discount=st.floats(0.5, 0.999), step=st.integers(0, 500))
def test_the_rest_is_the_sum_of_the_weights(discount, step):
    far = discount ** np.arange(step, 40_000, dtype=np.float64)
    assert Measure(discount=discount).rest(step) == pytest.approx(far.sum(), rel=1e-6, abs=1e-9)


def test_the_default_looks_ahead_a_third_of_the_episodes_that_were_cut():
    assert Measure.of(log([1.0] * 60, truncated=[29, 59])).discount == pytest.approx(0.9)
    assert Measure.of(log([1.0] * 60, terminated=[29, 59])).discount == DISCOUNT
    # The recording stopped within the last of them; and one that ended was longer than a cut one.
    assert Measure.of(log([1.0] * 60, terminated=[29], truncated=[59])).discount == DISCOUNT
    mixed = Measure.of(log([1.0] * 60, truncated=[9], terminated=[39, 59]))
    assert mixed.discount == pytest.approx(0.9)
    assert Measure.of(log([1.0] * 60), horizon=7) == Measure(discount=1.0, horizon=7)
    assert Measure.of(log([1.0] * 60), discount=0.8) == Measure(discount=0.8)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"discount": 1.2}, "`discount` must be above 0 and at most 1"),
        ({"discount": 1.0}, "needs an end"),
        ({"horizon": 0}, "`horizon` must be at least 1"),
    ],
)
def test_what_is_no_measure(settings, words):
    with pytest.raises(ConfigError, match=words):
        Measure(**settings)
