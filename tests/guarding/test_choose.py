"""A run's guard, chosen and written."""

import json
import shutil

import pytest

from countmorl import Guard, Run
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError, RunError
from countmorl.evaluation.bench import BenchConfig
from countmorl.evaluation.fqe import FQEConfig
from countmorl.guarding.choose import DWELL, GuardConfig, choose_guard
from countmorl.guarding.figure import guard_figure

FEW = {"clone_updates": 20}


@pytest.fixture
def run(pendulum, tmp_path):
    return Run.open(shutil.copytree(pendulum / "run", tmp_path / "run"))


def test_what_is_chosen_is_written_and_loaded(run, tmp_path):
    said = []
    found = choose_guard(run, GuardConfig(quantile=0.2, **FEW), judged=False, say=said.append)
    assert [p.name for p in found.points] == ["unguarded", *["guarded"] * 6, "fall-back alone"]
    assert found.point.quantile == 0.2
    assert found.point.threshold == found.guard.settings.threshold
    guard = Guard.load(run.path)
    assert guard.settings.threshold == found.point.threshold
    assert guard.settings.dwell == DWELL
    curve = json.loads((run.path / "guard" / "curve.json").read_text())
    assert curve["chosen"]["quantile"] == 0.2
    assert curve["judgements"] == {}
    assert "guarding below the 20% quantile" in said
    pytest.importorskip("matplotlib")
    guard_figure(found, "run", tmp_path / "guard.png")
    assert (tmp_path / "guard.png").stat().st_size > 1000


@pytest.mark.slow
def test_every_estimator_is_asked_about_the_guarded_policy(run):
    tiny = FQEConfig(members=2, hidden=(8,), updates=5, batch=8, least=10, most=10)
    found = choose_guard(run, GuardConfig(**FEW), bench=BenchConfig(fqe=tiny))
    assert set(found.judgements) == {"unguarded", "guarded"}
    assert "model" in found.judgements["guarded"].opinions
    curve = json.loads((run.path / "guard" / "curve.json").read_text())
    assert curve["judgements"]["guarded"]["verdict"] == found.judgements["guarded"].verdict


def test_a_threshold_of_ones_own_by_codes(run):
    config = GuardConfig(threshold=3.5, counts="codes", fall_back="abstain", **FEW)
    found = choose_guard(run, config, judged=False)
    assert found.guard.settings.threshold == found.point.threshold == 3.5
    assert found.point.value is None
    assert Guard.load(run.path).settings.counts == "codes"


def test_bad_wishes_are_a_sentence(run, finished):
    for wish, sentence in (
        ({"quantile": 0.0}, "`quantile` must be above 0"),
        ({"threshold": -1.0}, "`threshold` must be at least 0"),
        ({"dwell": 0}, "`dwell`"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            GuardConfig(**wish)
    with pytest.raises(ConfigError, match="needs `fixed`"):
        choose_guard(run, GuardConfig(fall_back="fixed", **FEW), judged=False)
    # This run has no model either, and one is fitted to judge by.
    bench = BenchConfig(model=EnsembleConfig(members=2, elites=2, width=8, max_epochs=1))
    by_codes = GuardConfig(counts="codes", **FEW)
    with pytest.raises(RunError, match="holds no counts"):
        choose_guard(Run.open(finished), by_codes, judged=False, bench=bench)
