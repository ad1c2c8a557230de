"""Verdicts on a system whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest

from countmorl.data.holdout import draw_holdout
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.bench import Bench, BenchConfig
from countmorl.evaluation.fqe import FQEConfig
from countmorl.evaluation.measure import Measure
from worlds import chain_log, linear_log, true_model

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


@pytest.mark.slow
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


def chained(share=0.0, updates=400, factor=None):
    """A bench of a log of the chain, whose own chances may be given, times a factor."""
    data = chain_log(200, on=0.9)
    if factor is not None:
        likely = factor * np.where(data.action[:, 1] == 1, 0.9, 0.1)
        data = replace(data, propensity=likely.astype(np.float32))
    config = BenchConfig(
        clone_updates=updates,
        critics=False,
        model=EnsembleConfig(members=2, elites=2, width=8, batch=32, holdout=20, max_epochs=1),
    )
    holdout = draw_holdout(data, share, 0)
    return Bench.of(data, holdout, None, Measure(discount=0.9, horizon=20), config=config)


def always_on(obs):
    return np.ones(len(obs), int)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_clone_that_has_learned_nothing_weighs_nothing(share):
    """Whatever is set aside: without it a clone of nine tenths is put to the last one."""
    found = judged(chained(share, updates=1), always_on).opinions["weighted"]
    assert isinstance(found, Refusal)
    assert "rows that a clone of the log has not seen, and it says" in found.why
    found = judged(chained(share), always_on).opinions["weighted"]
    assert isinstance(found, Estimate)
    assert found.made_by.endswith(
        "weighted by the chances that a clone of the log gives its actions"
    )
    assert found.facts["logged_propensities"] == 0


@pytest.mark.slow
def test_logged_chances_go_before_a_clones():
    """Even one that has learned nothing is not asked. Chances an eighth as great weigh all alike,
    but are said to be odd."""
    right, odd = (judged(chained(updates=1, factor=each), always_on) for each in (1, 1 / 8))
    one, other = right.opinions["weighted"], odd.opinions["weighted"]
    assert isinstance(one, Estimate)
    assert one.made_by == "200 logged episodes, weighted by logged propensities"
    assert one.facts["logged_propensities"] == 1
    assert isinstance(other, Estimate)
    said = "the logged propensities are"
    assert [said in " ".join(each.notes) for each in (right, odd)] == [False, True]
