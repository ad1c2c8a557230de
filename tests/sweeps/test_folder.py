import json

import pytest

from countmorl.errors import ConfigError, RunError
from countmorl.runs.lock import hold_lock
from countmorl.sweeps.folder import SweepFolder
from sweeps_parts import finish, small_plan


@pytest.fixture
def sweep(tmp_path):
    plan = small_plan(tmp_path)
    folder = SweepFolder(tmp_path / "sweep")
    folder.write_plan(plan.name, [row.as_dict() for row in plan.rows])
    return plan, folder


def test_the_plan_is_read_as_it_was_written(sweep):
    plan, folder = sweep
    again = SweepFolder.open(folder.path)
    assert again.exists
    assert again.plan_name == "sweep"
    assert [row["name"] for row in again.rows()] == [row.name for row in plan.rows]


def test_other_folders_are_refused(tmp_path):
    with pytest.raises(RunError, match=r"There is no folder"):
        SweepFolder.open(tmp_path / "no")
    with pytest.raises(RunError, match=r"is not the folder of a sweep: it holds no sweep.json"):
        SweepFolder.open(tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda plan: 3,
        lambda plan: plan | {"format": 2},
        lambda plan: plan | {"rows": {}},
        lambda plan: plan | {"name": None},
        lambda plan: plan | {"rows": [3]},
        lambda plan: plan | {"rows": [plan["rows"][0] | {"name": "../../elsewhere"}]},
        lambda plan: plan | {"rows": [plan["rows"][0] | {"name": ".."}]},
        lambda plan: plan | {"rows": [plan["rows"][0] | {"config": None}]},
        lambda plan: plan | {"rows": [plan["rows"][0] | {"data": 7}]},
    ],
)
def test_a_damaged_plan_is_a_sentence_and_names_no_other_place(sweep, spoil):
    path = sweep[1].path / "sweep.json"
    path.write_text(json.dumps(spoil(json.loads(path.read_text()))))
    with pytest.raises(RunError, match=r"does not hold the plan of a sweep"):
        sweep[1].rows()


def test_failures_are_remembered_until_they_are_tried_again(sweep):
    _, folder = sweep
    assert folder.failures() == {}
    folder.note_failure("a", "It fell.")
    folder.note_failure("b", "It broke.")
    assert folder.failures() == {"a": "It fell.", "b": "It broke."}
    folder.note_failure("a", None)
    folder.note_failure("c", None)
    assert folder.failures() == {"b": "It broke."}


def test_states(sweep):
    plan, folder = sweep
    model, mopo, clone = plan.rows
    assert folder.state(model.name) == "waiting"
    folder.note_failure(model.name, "It fell.")
    assert folder.state(model.name) == "failed"
    run = finish(folder, clone)
    assert folder.state(clone.name) == "finished"
    run.result_path("policy").unlink()
    assert folder.state(clone.name) == "stopped"
    with run.lock():
        assert folder.state(clone.name) == "running"
    folder.note_failure(clone.name, "It fell.")
    assert folder.state(clone.name) == "failed"
    finish(folder, mopo)
    (folder.run_path(mopo.name) / "config.json").write_text("{")
    assert folder.state(mopo.name) == "failed"


def test_a_second_sweep_is_kept_out(sweep):
    _, folder = sweep
    with (
        folder.lock(),
        pytest.raises(RunError, match=r"Another sweep is running in .*sweep stop"),
        folder.lock(),
    ):
        pass
    with folder.lock():
        pass


def test_errors_inside_the_lock_are_left_as_they_are(sweep):
    with pytest.raises(RunError, match=r"^Another process is something else$"), sweep[1].lock():
        raise RunError("Another process is something else")


def test_stopping_is_asked_for_by_a_file(sweep):
    _, folder = sweep
    with pytest.raises(ConfigError, match=r"No sweep is running in"):
        folder.ask_to_stop()
    assert not folder.asked_to_stop
    with hold_lock(folder.path):
        folder.ask_to_stop()
    assert folder.asked_to_stop
    folder.forget_stop()
    folder.forget_stop()
    assert not folder.asked_to_stop
