"""A run is asked for what its page lacks, once."""

import shutil

import pytest

from countmorl import Run, asking
from countmorl.asking import ask
from countmorl.coverage import report
from countmorl.evaluation.bench import BenchConfig
from countmorl.guarding.choose import GuardConfig
from countmorl.reports.dossier import KEPT
from countmorl.reports.run_page import render_run_page

FEW = BenchConfig(critics=False, clone_updates=20)


@pytest.fixture
def run(pendulum, tmp_path, monkeypatch):
    """A copy of a run; whoever is asked answers with little work."""
    judge, guard = asking.judge_runs, asking.choose_guard
    little = GuardConfig(clone_updates=20)
    monkeypatch.setattr(report, "CLONE_UPDATES", 20)
    monkeypatch.setattr(asking, "judge_runs", lambda *a, **o: judge(*a, config=FEW, **o))
    monkeypatch.setattr(asking, "choose_guard", lambda r, **o: guard(r, little, bench=FEW, **o))
    return Run.open(shutil.copytree(pendulum / "run", tmp_path / "run"))


@pytest.mark.slow
def test_everything_is_asked_once_and_shown(run):
    said = []
    dossier, problems = ask(run, everything=True, say=said.append)
    assert (problems, dossier.missing, dossier.older) == ([], [], ())
    assert "looking at the log" in said
    assert 'id="guard-values"' in render_run_page(dossier)
    before = {name: dossier.path(name).read_bytes() for name in KEPT}
    again, _ = ask(run, everything=True, say=pytest.fail)
    assert {name: again.path(name).read_bytes() for name in KEPT} == before


def test_what_takes_minutes_is_not_asked_by_itself(run):
    dossier, problems = ask(run)
    assert problems == []
    assert dossier.missing == ["coverage", "judgement", "guard"]


def test_a_log_that_is_not_there_is_told(run):
    dossier, problems = ask(run, data=run.path / "no.npz", everything=True)
    assert len(dossier.missing) == len(KEPT)
    assert any("no.npz" in each and "--data" in each for each in problems)
