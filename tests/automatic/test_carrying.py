import pytest

from auto_parts import Inline
from countmorl.automatic import carrying
from countmorl.automatic.budget import Clock
from countmorl.automatic.carrying import carry_out, policies_of
from countmorl.automatic.folder import AutoFolder
from countmorl.errors import Interrupted
from countmorl.runs.folder import Run
from countmorl.sweeps.facts import DataFacts
from countmorl.sweeps.local import LocalEngine
from small_runs import small
from sweeps_parts import Pretending, small_plan

FACTS = DataFacts(rows=300, obs_dim=2, action_dim=1)


@pytest.fixture
def plan(tmp_path):
    return small_plan(tmp_path, "bc", seeds=3)


def pretend(monkeypatch, folder, **how):
    engine = Pretending(folder.runs, room=1, **how)
    monkeypatch.setattr(carrying, "engine_for", lambda *_: engine)
    return engine


def test_all_runs_end_and_the_time_is_noted(plan, tmp_path, monkeypatch, capsys):
    folder, noted = AutoFolder(tmp_path / "out"), []
    pretend(monkeypatch, folder)
    clock = Clock(budget=1e9, before=100.0, began=0.0)
    how = {"workers": 1, "note": lambda: noted.append(1)}
    result = carry_out(plan, folder, FACTS, clock, **how)
    assert result.complete
    assert noted
    assert "training for up to" in capsys.readouterr().err


def test_when_the_time_is_over_runs_are_asked_to_stop(plan, tmp_path, monkeypatch, capsys):
    folder = AutoFolder(tmp_path / "out")
    engine = pretend(monkeypatch, folder)
    clock = Clock(budget=1e6, before=6.1e5, began=0.0)
    result = carry_out(plan, folder, FACTS, clock, workers=1, note=lambda: None)
    assert len(result.finished) == 1  # It was under way when the clock was looked at.
    assert len(result.left) == 2
    assert engine.asked == 1
    assert "what has been learned so far is judged" in capsys.readouterr().err


def test_a_person_who_stops_it_is_told_apart_from_the_clock(plan, tmp_path, monkeypatch):
    folder = AutoFolder(tmp_path / "out")
    pretend(monkeypatch, folder, at_wait=folder.runs.ask_to_stop)
    clock = Clock(budget=1e9, before=0.0, began=0.0)
    with pytest.raises(Interrupted):
        carry_out(plan, folder, FACTS, clock, workers=1, note=lambda: None)


def test_workers_are_processes(tmp_path):
    found = carrying.engine_for(AutoFolder(tmp_path), FACTS, 3)
    assert isinstance(found, LocalEngine)
    assert found.workers == 3


def test_policies_that_were_kept_and_the_last_of_a_stopped_run(tmp_path):
    plan = small_plan(tmp_path, "bc")
    (row,) = plan.rows
    engine = Inline(tmp_path)
    engine.start(row)
    (outcome,) = engine.wait(0)
    assert outcome.state == "done"
    run = Run.open(tmp_path / row.name)
    assert policies_of(run) == {}  # It was asked to keep none.
    run.result_path("policy").unlink()
    assert policies_of(run) == {small("bc").epochs: str(run.policy_path)}
