import json
from pathlib import Path

import pytest

from countmorl import Run
from countmorl.cli import sweep_plans
from countmorl.sweeps.estimate import Estimate
from sweeps_parts import write_log

TOML = """
data = "log.npz"
[options]
eval_every = 0
[[methods]]
method = "bc"
settings = {epochs = 3, updates = 4, batch = 20, hidden = [8]}
"""


@pytest.fixture
def plan(tmp_path):
    write_log(tmp_path / "log.npz")
    (tmp_path / "mine.toml").write_text(TOML)
    return "mine.toml"


@pytest.fixture
def timed(monkeypatch):
    """No timing: every row takes an hour."""

    def hours(plan, facts, workers):
        seconds = {row.name: 3600.0 for row in plan.rows}
        return Estimate(seconds=seconds, wall=sum(seconds.values()) / workers)

    monkeypatch.setattr(sweep_plans, "estimate", hours)


def test_a_plan_in_a_file_is_carried_out_and_then_left_alone(run_cli, plan):
    code, out, err = run_cli("sweep", plan, "--out", "sweep", "--workers", 1)
    assert code == 0, err
    assert "1 finished, 0 failed" in out
    assert "countmorl report sweep" in out
    assert "[1/1] bc-log-seed0: finished" in err
    assert Run.open("sweep/bc-log-seed0").finished
    code, out, err = run_cli("sweep", plan, "--out", "sweep", "--json")
    told = json.loads(out)
    assert (code, told["finished"], told["folder"]) == (0, ["bc-log-seed0"], "sweep")
    assert "1 of them finished before" in err


def test_a_run_that_fails_is_told_at_the_end(run_cli, plan):
    code, out, err = run_cli("sweep", plan, "--out", "sweep", "--memory", 0.01)
    assert code == 1
    assert "failed: bc-log-seed0: It needs about" in err
    assert "0 finished, 1 failed" in out


@pytest.mark.usefixtures("timed")
def test_a_dry_run_starts_nothing_and_tells_hours(run_cli):
    words = ("--tasks", "hopper-medium", "--seeds", 2, "--preset", "paper", "--workers", 4)
    code, out, _ = run_cli("sweep", "table1", *words, "--dry-run")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["what", "runs", "core", "hours"]
    assert any(line.split()[:3] == ["count-morl", "2", "2.0"] for line in lines)
    assert any(line.startswith("models, each fitted once and shared") for line in lines)
    assert "with 4 workers" in out
    assert "No settings are published for" in out
    assert not Path("sweeps").exists()
    told = json.loads(run_cli("sweep", "table1", *words, "--dry-run", "--json")[1])
    assert told["workers"] == 4
    assert told["core_hours"] == len(told["rows"])
    assert told["wall_hours"] == len(told["rows"]) / 4


@pytest.mark.parametrize("name", ["table1", "table1-v0", "estimates", "dimensions", "curves"])
def test_every_plan_explains_itself(run_cli, name):
    code, out, _ = run_cli("sweep", name, "--help")
    assert code == 0
    for word in (
        "--tasks",
        "--algorithms",
        "--seeds",
        "--epochs",
        "--preset",
        "--data",
        "--dry-run",
    ):
        assert word in out


@pytest.mark.usefixtures("timed")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("table1", "--tasks", "hoper-medium"), "No task named 'hoper-medium'. Did you mean"),
        (("table1", "--algorithms", "mopoo"), "No method named 'mopoo'. Did you mean 'mopo'?"),
        (("table1", "--algorithms", "no:Such"), "could not be imported"),
        (("table1", "--seeds", 0), "`seeds` must be at least 1, got 0"),
        (("table1", "--seeds", 10**7), "`seeds` must be at most 10,000"),
        (("table1", "--epochs", 0), "`epochs` must be at least 1, got 0"),
        (("table1", "--data", "nowhere"), "There is no file nowhere, and no dataset of that name"),
        (("table1", "--data", "."), "holds no file for halfcheetah-random"),
        (("table1", "--preset", "quick"), "has no preset 'quick'"),
        (("table1", "--dry-run", "--workers", 0), "`workers` must be at least 1, got 0"),
        (("mine.toml", "--workers", 0), "`workers` must be at least 1, got 0"),
        (("mine.toml", "--memory", 0), "`memory` must be a number of GB above 0"),
        (("mine.toml", "--engine", "spark"), "`--engine` must be one of local, ray"),
        (("mine.toml", "--engine", "ray", "--address", "127.0.0.1:9"), "No Ray cluster answers at"),
        (("mine.toml", "--out", "log.npz"), "log.npz"),
    ],
)
def test_bad_input_is_a_sentence_and_nothing_is_begun(run_cli, plan, words, said):
    code, out, err = run_cli("sweep", *words)
    assert (code, out) == (2, ""), err
    assert said in err
    assert "Traceback" not in err
    assert not list(Path.cwd().rglob("config.json"))


def test_another_plan_in_the_same_folder(run_cli, plan, tmp_path):
    assert run_cli("sweep", plan, "--out", "sweep")[0] == 0
    (tmp_path / "mine.toml").write_text(TOML.replace("epochs = 3", "epochs = 5"))
    before = {path: path.read_bytes() for path in Path("sweep").rglob("*") if path.is_file()}
    code, _, err = run_cli("sweep", plan, "--out", "sweep")
    assert (code, "holds another sweep: its 'bc-log-seed0' differs in config.epochs" in err) == (
        2,
        True,
    )
    assert before == {
        path: path.read_bytes() for path in Path("sweep").rglob("*") if path.is_file()
    }


def test_data_that_are_damaged_are_told_before_anything_starts(run_cli, plan, tmp_path):
    (tmp_path / "log.npz").write_bytes(b"damaged")
    code, _, err = run_cli("sweep", plan, "--out", "sweep")
    assert (code, "log.npz" in err) == (2, True)
    assert not Path("sweep").exists()
