"""Verdicts on a system whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest

from countmorl.data.holdout import draw_holdout
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Refusal
from countmorl.evaluation.bench import Bench, BenchConfig
from countmorl.evaluation.fqe import FQEConfig
from countmorl.evaluation.measure import Measure
from worlds import linear_log, true_model

CONFIG = BenchConfig(
    clone_updates=100,
    fqe=FQEConfig(members=3, hidden=(32,), updates=200, batch=64, rate=3e-3, polyak=0.05),
)


@pytest.fixture(scope="module")
def bench():
    """A log of actions drawn evenly from -1 to 1: it earns nothing, on average."""
    data = linear_log(400)
    holdout = draw_holdout(data, 0.5, 0)
    return Bench.of(data, holdout, true_model(), Measure(discount=0.9), config=CONFIG)


def judged(bench, act):
    return bench.judge(Actor.of(act, bench.dataset, "mine"))


@pytest.mark.parametrize(
    ("push", "verdict"), [(0.2, "better"), (0.0, "not shown to be better"), (-0.2, "worse")]
)
def test_the_truth_is_told(bench, push, verdict):
    """a = s / 2 + push: s' = 0.95 s + push / 10, so s_t = 2 push (1 - 0.95^t)."""
    found = judged(bench, lambda obs: 0.5 * obs + push)
    assert found.verdict == verdict
    truth = 2 * push * (1 / (1 - 0.9) - 1 / (1 - 0.95 * 0.9))
    for name in ("fitted Q", "model"):
        assert found.opinions[name].value == pytest.approx(truth, abs=0.2)
    assert found.gain[0] < truth < found.gain[1]
    assert not found.notes


def test_of_a_log_that_tried_little_nothing_is_said():
    data = linear_log(100, pull=0.9)
    bench = Bench.of(data, None, true_model(), Measure(discount=0.9), config=CONFIG)
    found = judged(bench, lambda obs: -np.ones((len(obs), 1)))
    assert found.sentence == "cannot be judged: 100% of its steps are pairs that were never logged."
    assert all(isinstance(each, Refusal) for each in found.opinions.values())
    assert found.notes[0].startswith("no episodes were set aside")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"settled": False}, "it has not converged"),
        ({"values": np.full(3, 1e6)}, "it takes the log to be worth 1e+06"),
    ],
)
def test_critics_that_cannot_be_trusted_are_refused(bench, change, why):
    broken = replace(bench, log_fit=replace(bench.log_fit, **change))
    found = broken._fitted_q(bench.log_fit, off=0.0)
    assert isinstance(found, Refusal)
    assert why in found.why


def test_a_model_that_cannot_carry_a_clone_tells_nothing_of_the_way(bench, monkeypatch):
    """Two estimators are wanted all the same, so that nothing is called better by one alone."""
    monkeypatch.setattr("countmorl.evaluation.bench.CLONE_CUT", -1.0)
    monkeypatch.setattr("countmorl.evaluation.model_value.CLONE_CUT", -1.0)
    found = judged(bench, lambda obs: 0.5 * obs + 0.2)
    assert isinstance(found.opinions["model"], Refusal)
    assert found.way.unseen < 0.05
    assert found.verdict == "not shown to be better"
    assert "fitted Q alone could judge it, and two have to agree" in found.sentence


def test_critics_that_diverge_or_only_extrapolate_are_refused(bench):
    wild = replace(bench.log_fit, values=np.full(3, 1e6))
    assert bench._fitted_q(wild, off=0.0).why == "the critics have diverged."
    assert "does what was never done" in bench._fitted_q(bench.log_fit, off=0.3).why
    assert "give a --discount" in replace(bench, log_fit=None)._fitted_q(None, off=0.0).why
