import errno
import os
import signal

import pytest

from countmorl.errors import ConfigError, RunError
from countmorl.sweeps.drive import TRIES, Drive, write_down
from countmorl.sweeps.folder import SweepFolder
from sweeps_parts import Pretending, Silent, finish, small_plan


@pytest.fixture
def folder(tmp_path):
    return SweepFolder(tmp_path / "sweep")


def drive(plan, folder, **how):
    engine, watcher = Pretending(folder, **how), Silent()
    return Drive(plan, folder, engine, watcher)(), engine, watcher


def test_everything_is_done_and_what_is_shared_comes_first(tmp_path, folder):
    plan = small_plan(tmp_path, "count-morl", "mopo", "bc")
    result, engine, watcher = drive(plan, folder)
    assert result.complete
    assert result.finished == {row.name for row in plan.rows}
    order = {name: place for place, name in enumerate(engine.started)}
    for row in plan.rows:
        assert row.model is None or order[row.model] < order[row.name]
    assert watcher.lines[0] == "begin 0"
    assert watcher.closed
    assert [row["name"] for row in folder.rows()] == [row.name for row in plan.rows]


def test_what_was_done_before_is_not_done_again(tmp_path, folder):
    plan = small_plan(tmp_path)
    drive(plan, folder)
    before = {path: path.stat().st_mtime_ns for path in folder.path.rglob("*.safetensors")}
    result, engine, watcher = drive(plan, folder)
    assert (result.complete, engine.started, watcher.lines) == (True, [], ["begin 3"])
    assert before == {path: path.stat().st_mtime_ns for path in folder.path.rglob("*.safetensors")}


def test_a_failed_run_is_told_and_the_others_go_on(tmp_path, folder):
    plan = small_plan(tmp_path, "mopo", "bc", seeds=2)
    result, engine, _ = drive(plan, folder, outcomes={"bc-log-seed0": ["failed"]})
    assert result.failed == {"bc-log-seed0": "It failed."}
    assert len(result.finished) == 5
    assert not result.complete
    assert folder.failures() == result.failed
    again, engine, _ = drive(plan, folder)
    assert (again.complete, engine.started, folder.failures()) == (True, ["bc-log-seed0"], {})


def test_users_of_a_model_that_failed_are_not_begun(tmp_path, folder):
    plan = small_plan(tmp_path, "count-morl", "bc")
    model = plan.rows[0].name
    result, engine, _ = drive(plan, folder, outcomes={model: ["failed"]})
    assert set(engine.started) == {model, "bc-log-seed0"}
    assert len(result.failed) == 3
    assert f"Not begun, since {plan.rows[1].name}" in result.failed["count-morl-log-seed0"]


def test_a_run_that_was_killed_goes_on_and_fails_when_it_is_killed_each_time(tmp_path, folder):
    plan = small_plan(tmp_path, "bc")
    result, engine, watcher = drive(plan, folder, outcomes={"bc-log-seed0": ["lost", "stopped"]})
    assert result.complete
    assert engine.started == ["bc-log-seed0"] * 3
    assert "bc-log-seed0: It lost. It goes on." in watcher.lines
    other = SweepFolder(tmp_path / "other")
    result, *_ = drive(plan, other, outcomes={"bc-log-seed0": ["lost"] * TRIES})
    assert result.failed == {"bc-log-seed0": f"It lost. It was tried {TRIES} times."}


def test_a_row_that_can_never_start_is_told_and_not_waited_for(tmp_path, folder, monkeypatch):
    plan = small_plan(tmp_path, "bc", seeds=2)
    monkeypatch.setattr(
        Pretending, "why_never", lambda self, row: "Too large." if "seed1" in row.name else None
    )
    result, engine, _ = drive(plan, folder)
    assert result.failed == {"bc-log-seed1": "Too large."}
    assert engine.started == ["bc-log-seed0"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_runs_save_and_the_same_command_goes_on(tmp_path, folder, number):
    plan = small_plan(tmp_path, "mopo", "bc", seeds=2)
    before = signal.getsignal(number)
    at_wait = iter([lambda: os.kill(os.getpid(), number)])
    result, engine, watcher = drive(plan, folder, at_wait=lambda: next(at_wait, lambda: None)())
    assert signal.getsignal(number) is before
    assert engine.asked == 1
    assert "Stopping: every run finishes its epoch and saves." in watcher.lines
    assert set(result.left) | result.finished == {row.name for row in plan.rows}
    assert result.left
    assert drive(plan, folder)[0].complete


def test_a_second_signal_ends_them_at_once(tmp_path, folder):
    plan = small_plan(tmp_path, "bc", seeds=4)
    result, engine, _ = drive(
        plan, folder, room=3, at_wait=lambda: os.kill(os.getpid(), signal.SIGINT)
    )
    # After the first wait they are asked, after the second they are ended.
    assert (engine.asked, len(result.finished)) == (1, 1)
    assert engine.killed >= 1
    assert set(result.left) == {row.name for row in plan.rows} - result.finished


def test_a_file_asks_to_stop_and_is_forgotten(tmp_path, folder):
    plan = small_plan(tmp_path, "bc", seeds=3)
    result, engine, _ = drive(plan, folder, room=1, at_wait=folder.ask_to_stop)
    assert engine.asked == 1
    assert result.left
    assert not folder.asked_to_stop
    assert drive(plan, folder)[0].complete


def test_runs_are_ended_where_the_sweep_itself_fails(tmp_path, folder):
    def fail():
        raise RuntimeError("a fault of ours")

    plan, engine, watcher = small_plan(tmp_path), Pretending(folder, at_wait=fail), Silent()
    with pytest.raises(RuntimeError, match=r"a fault of ours"):
        Drive(plan, folder, engine, watcher)()
    assert engine.killed
    assert watcher.closed
    with folder.lock():
        pass


def test_a_plan_may_grow_and_never_changes(tmp_path, folder):
    folder.path.mkdir()
    write_down(small_plan(tmp_path, "bc"), folder)
    write_down(small_plan(tmp_path, "bc", "mopo", seeds=2), folder)
    assert len(folder.rows()) == 6
    write_down(small_plan(tmp_path, "bc"), folder)
    assert len(folder.rows()) == 6
    with pytest.raises(
        ConfigError, match=r"holds another sweep: its 'bc-log-seed0' differs in con"
    ):
        write_down(small_plan(tmp_path, "bc", epochs=9), folder)


def test_a_foreign_run_in_a_rows_folder_is_refused(tmp_path, folder):
    plan = small_plan(tmp_path, "bc")
    finish(folder, small_plan(tmp_path, "bc", epochs=9).rows[0])
    with pytest.raises(ConfigError, match=r"holds another run than the plan's"):
        drive(plan, folder)


def test_a_damaged_run_is_left_to_its_worker(tmp_path, folder):
    plan = small_plan(tmp_path, "bc", seeds=2)
    finish(folder, plan.rows[0])
    (folder.run_path(plan.rows[0].name) / "config.json").write_text("{")
    result, engine, _ = drive(plan, folder, outcomes={"bc-log-seed0": ["failed"]})
    assert engine.started == ["bc-log-seed0", "bc-log-seed1"]
    assert set(result.failed) == {"bc-log-seed0"}


def test_no_space_for_the_plan(tmp_path, folder, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match=r"The disk is full: .*sweep.json could not be written"):
        drive(small_plan(tmp_path, "bc"), folder)
