import json

import pytest

from countmorl.runs.lock import hold_lock
from countmorl.sweeps.folder import SweepFolder
from sweeps_parts import finish, small_plan


@pytest.fixture
def folder(tmp_path):
    plan = small_plan(tmp_path, "mopo", "bc")
    folder = SweepFolder(tmp_path / "sweep")
    folder.write_plan("mine", [row.as_dict() for row in plan.rows])
    finish(folder, plan.rows[-1])
    folder.note_failure(plan.rows[0].name, "It fell.")
    return folder


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_plans_are_listed(run_cli, words):
    code, out, err = run_cli("sweep", *words)
    assert (code, err) == (0, "")
    for word in ("table1", "table1-v0", "estimates", "dimensions", "curves", "PLAN.toml", "status"):
        assert f" {word}" in out


def test_status_tells_how_far_every_run_is(run_cli, folder):
    code, out, _ = run_cli("sweep", "status", folder.path)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["run", "state", "stage", "epoch", "score", "time", "left"]
    clone = next(line for line in lines if line.startswith("bc-log"))
    assert clone.split() == ["bc-log-seed0", "finished", "policy", "1/3", "12.5"]
    assert "1 finished, 1 waiting, 1 failed" in lines
    assert lines[-1].endswith("It fell.")


def test_status_as_json(run_cli, folder):
    told = json.loads(run_cli("sweep", "status", folder.path, "--json")[1])
    assert told["plan"] == "mine"
    assert told["counts"]["finished"] == 1
    assert [row["state"] for row in told["runs"]] == ["failed", "waiting", "finished"]


def test_stop_asks_who_runs(run_cli, folder):
    code, _, err = run_cli("sweep", "stop", folder.path)
    assert (code, "No sweep is running in" in err) == (2, True)
    with hold_lock(folder.path):
        assert run_cli("sweep", "stop", folder.path)[0] == 0
    assert folder.asked_to_stop


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("table2",), "There is no plan 'table2'. Did you mean 'table1'?"),
        (("no.toml",), "There is no plan no.toml"),
        (("status", "nowhere"), "There is no folder nowhere"),
        (("status", "."), "is not the folder of a sweep"),
        (("status",), "wants DIR"),
        (("table1", "--sedes", 3), "has no option '--sedes'. Did you mean '--seeds'?"),
    ],
)
def test_wrong_words_are_sentences(run_cli, words, said):
    code, out, err = run_cli("sweep", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
