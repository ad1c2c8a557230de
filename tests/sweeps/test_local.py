import os
import signal

import pytest

from countmorl import Run
from countmorl.sweeps import local
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.local import LocalEngine, told
from sweeps_parts import small_plan

GB = 1_000_000_000


@pytest.fixture
def folder(tmp_path):
    return SweepFolder(tmp_path / "sweep")


def until(engine, true):
    """Let the engine work until something holds; nothing may end meanwhile."""
    while not true():
        assert engine.wait(0.05) == []


def test_memory_and_workers_make_room(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(local, "available_memory", lambda: 10 * GB)
    plan = small_plan(tmp_path, "bc", seeds=3)
    engine = LocalEngine(folder, workers=3, need=lambda row: 4 * GB)
    assert engine.memory == 9 * GB
    assert engine.has_room(plan.rows[0])
    engine._needs = {"a": 4 * GB}
    engine._processes = {"a": None}
    assert engine.has_room(plan.rows[0])
    engine._needs["b"] = 4 * GB
    assert not engine.has_room(plan.rows[0])
    engine.memory = None  # Where nobody tells how much there is, workers alone count.
    assert engine.has_room(plan.rows[0])
    engine.workers = 1
    assert not engine.has_room(plan.rows[0])


def test_a_run_that_is_larger_than_the_machine_is_told(tmp_path, folder):
    row = small_plan(tmp_path, "bc").rows[0]
    engine = LocalEngine(folder, workers=1, need=lambda row: 4 * GB, memory=2 * GB)
    assert "It needs about 4.0 GB of memory, and 2.0 GB are there" in engine.why_never(row)
    assert LocalEngine(folder, workers=1, need=lambda r: GB, memory=GB).why_never(row) is None


def test_a_process_trains_says_so_and_leaves_its_words(tmp_path, folder):
    row = small_plan(tmp_path, "bc").rows[0]
    engine = LocalEngine(folder, workers=1, need=lambda row: GB, memory=GB)
    engine.start(row)
    assert engine.running == [row.name]
    outcomes = []
    while not outcomes:
        outcomes = engine.wait(1.0)
    assert (outcomes[0].name, outcomes[0].state, outcomes[0].sentence) == (row.name, "done", "")
    assert engine.running == []
    assert Run.open(folder.run_path(row.name)).finished
    assert "policy 3/3" in folder.log_path(row.name).read_text()


def test_a_killed_process_is_lost_and_a_stopped_one_has_saved(tmp_path, folder):
    killed, stopped = small_plan(tmp_path, "bc", seeds=2, epochs=100_000).rows
    engine = LocalEngine(folder, workers=2, need=lambda row: GB, memory=2 * GB)
    engine.start(killed)
    engine.start(stopped)
    metrics = [folder.run_path(row.name) / "metrics.jsonl" for row in (killed, stopped)]
    until(engine, lambda: all(path.exists() for path in metrics))
    os.kill(engine._processes[killed.name].pid, signal.SIGKILL)
    (lost,) = engine.wait(60.0)
    assert (lost.name, lost.state) == (killed.name, "lost")
    assert "ended by SIGKILL. The machine may have run out of memory" in lost.sentence
    engine.ask_to_stop()
    (saved,) = engine.wait(60.0)
    assert (saved.name, saved.state) == (stopped.name, "stopped")
    assert "nothing is lost" in saved.sentence
    engine.start(stopped)
    engine.kill()
    assert engine.running == []


def test_what_a_worker_says_or_does_not():
    assert (
        told("x", b'noise\n{"state": "failed", "sentence": "It fell."}\n', 0).sentence == "It fell."
    )
    assert told("x", b"", 3).sentence == "Its process ended with code 3 and said nothing."
    assert told("x", b"[]", -11).sentence == "Its process was ended by SIGSEGV."
    assert told("x", b"{}", -99).sentence == "Its process was ended by signal 99."
    assert told("x", b"", -9).state == "lost"
