import json
import os
import shutil
import subprocess
import sys

import pytest

from countmorl.runs.folder import Run
from countmorl.threads import BLAS, XLA, settings


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_goes_on(run_cli, halted, trained):
    code, out, err = run_cli("resume", halted)
    assert code == 0
    assert f"Run: {halted}" in out
    assert [line.split()[1] for line in err.splitlines()] == ["3/4", "4/4"]
    unbroken = (trained / "run" / "metrics.jsonl").read_bytes()
    assert (halted / "metrics.jsonl").read_bytes() == unbroken


def test_a_finished_run_is_left_as_it_is(run_cli, finished):
    before = contents(finished)
    code, out, err = run_cli("resume", finished, "--json")
    assert (code, err) == (0, "")
    summary = json.loads(out)
    assert (summary["epochs"], summary["finished"]) == (4, True)
    assert contents(finished) == before | {".lock": b""}


@pytest.mark.slow
def test_a_run_of_fewer_threads_goes_on_exactly_by_itself(trained, tiny, tmp_path):
    """As a sweep's run does, whose processes take one thread each."""
    main = [sys.executable, "-c", "import sys; from countmorl.cli import main; sys.exit(main())"]
    words = [*main, "train", "bc", trained / "log.hdf5", "--out", "run", *tiny]
    said = {name: text for name, text in os.environ.items() if name not in (XLA, *BLAS)}
    subprocess.run(words, env=said | settings(1, 1), check=True, capture_output=True)
    again = [*main, "resume", "run", "--epochs", "5"]
    done = subprocess.run(again, env=said, capture_output=True, text=True)
    assert (done.returncode, "bit for bit" in done.stderr) == (0, False), done.stderr
    manifest = Run.open("run").manifest
    assert (manifest.inexact, manifest.environment["threads"]) == ((), "1")


def test_data_that_has_moved(run_cli, halted, trained):
    (trained / "log.hdf5").rename(trained / "moved.hdf5")
    try:
        code, _, err = run_cli("resume", halted)
        assert (code, "If the data have moved, name them with --data." in err) == (2, True)
        assert run_cli("resume", halted, "--data", trained / "moved.hdf5")[0] == 0
    finally:
        (trained / "moved.hdf5").rename(trained / "log.hdf5")


class TestEpochs:
    def test_a_finished_run_is_trained_on(self, run_cli, finished):
        before = (finished / "metrics.jsonl").read_bytes()
        code, _, err = run_cli("resume", finished, "--epochs", 6)
        assert code == 0
        assert [line.split()[1] for line in err.splitlines()] == ["5/6", "6/6"]
        run = Run.open(finished)
        assert run.metrics_path.read_bytes().startswith(before)
        assert [record.epoch for record in run.records()] == [1, 2, 3, 4, 5, 6]
        assert (run.finished, run.manifest.epochs_before) == (True, (4,))
        assert run_cli("resume", finished, "--epochs", 7)[0] == 0
        assert run.manifest.epochs_before == (4, 6)

    def test_it_can_be_stopped_and_resumed_on_the_way(self, run_cli, finished, monkeypatch):
        """The longer run is a run like the others: killed, it goes on to the same end."""
        whole = finished.with_name("whole")
        shutil.copytree(finished, whole)
        assert run_cli("resume", whole, "--epochs", 8)[0] == 0
        append = Run.append

        def killed(run, file_name, record):
            append(run, file_name, record)
            if file_name == "metrics.jsonl" and record["epoch"] == 7:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Run, "append", killed)
            assert run_cli("resume", finished, "--epochs", 8)[0] == 130
        assert not Run.open(finished).finished
        assert run_cli("resume", finished)[0] == 0
        for name in ("metrics.jsonl", "policy.safetensors", "config.json"):
            assert (finished / name).read_bytes() == (whole / name).read_bytes()

    @pytest.mark.parametrize("epochs", [4, 2])
    def test_fewer_are_refused(self, run_cli, finished, epochs):
        before = contents(finished)
        code, _, err = run_cli("resume", finished, "--epochs", epochs)
        assert (code, err.count("\n")) == (2, 1)
        words = f"`epochs` must be more than the 4 that {finished} has, got {epochs}."
        assert words in err
        assert contents(finished) == before


class TestOwnCode:
    def test_an_environment_is_said_again(self, run_cli, trained, tiny, own_env):
        words = ("train", "bc", trained / "log.hdf5", "--out", "run", *tiny, "--task", own_env)
        assert run_cli(*words, "--eval-episodes", 1)[0] == 0
        del sys.modules["own_envs"]
        code, _, err = run_cli("resume", "run", "--epochs", 5)
        assert (code, err.count("\n")) == (2, 1)
        assert "no file alone makes code run" in err
        assert f"say it again: --task {own_env}" in err
        assert "own_envs" not in sys.modules
        assert run_cli("resume", "run", "--epochs", 5, "--task", "Pendulum-v1")[0] == 2
        code, out, _ = run_cli("resume", "run", "--epochs", 5, "--task", own_env)
        assert (code, "Last return 10.0 ± 0.0." in out) == (0, True)

    def test_a_method_is_said_again(self, run_cli, trained, tiny, module):
        name = "own_clone:Mine"
        module("own_clone", "from countmorl import BC\n\nclass Mine(BC):\n    '''Mine: clone.'''\n")
        assert run_cli("train", name, trained / "log.hdf5", "--out", "run", *tiny)[0] == 0
        del sys.modules["own_clone"]
        code, _, err = run_cli("resume", "run", "--epochs", 5)
        assert (code, err.count("\n")) == (2, 1)
        assert f"was trained by the code '{name}'" in err
        assert f"say it again: --method {name}" in err
        assert "own_clone" not in sys.modules
        assert run_cli("resume", "run", "--epochs", 5, "--method", "own_clone:Other")[0] == 2
        assert run_cli("resume", "run", "--epochs", 5, "--method", name)[0] == 0
        assert Run.open("run").records()[-1].epoch == 5


class TestTabular:
    @pytest.fixture
    def copy(self, tabular, tmp_path):
        return shutil.copytree(tabular / "run", tmp_path / "copy")

    def test_a_finished_one_is_left_as_it_is(self, run_cli, copy):
        before = contents(copy)
        code, out, err = run_cli("resume", copy)
        assert (code, err) == (0, "")
        assert out == f"Run: {copy}\nPolicy: {copy}/policy.safetensors\n"
        assert contents(copy) == before

    @pytest.mark.parametrize("lost", [("plan",), ("plan", "policy"), ("plan", "policy", "metrics")])
    def test_an_unfinished_one_is_finished_to_the_byte(self, run_cli, copy, lost):
        before = contents(copy)
        for path in copy.rglob("*"):
            if path.stem in lost:
                path.unlink()
        code, out, _ = run_cli("resume", copy, "--json")
        assert (code, json.loads(out)["finished"]) == (0, True)
        assert contents(copy) == before


class TestForeignConfig:
    """A config.json that somebody else has written, or changed."""

    def change(self, folder, part, **values):
        config = json.loads((folder / "config.json").read_text())
        config[part] |= values
        (folder / "config.json").write_text(json.dumps(config))

    @pytest.mark.parametrize(
        ("part", "values"), [("config", {"learning_rate": 0.5}), ("options", {"seed": 7})]
    )
    def test_a_changed_setting_is_not_resumed_in_silence(
        self, run_cli, halted, trained, part, values
    ):
        self.change(halted, part, **values)
        code, _, err = run_cli("resume", halted)
        assert code == 2
        assert "config.json was changed by hand" in err
        assert f"countmorl resume {halted} --inexact" in err
        assert run_cli("resume", halted, "--inexact")[0] == 0
        assert Run.open(halted).manifest.inexact == ("its config.json was changed by hand",)

    def test_other_cores_are_not_resumed_in_silence(self, run_cli, halted, monkeypatch):
        monkeypatch.setenv("NPROC", "63")
        code, _, err = run_cli("resume", halted)
        assert code == 2
        assert "threads was" in err
        assert "and is 63" in err

    def test_nothing_is_sent_because_a_file_says_so(self, run_cli, halted):
        self.change(halted, "options", log=["wandb"])
        code, _, err = run_cli("resume", halted, "--inexact")
        assert code == 2
        assert "sends its metrics to wandb, and no file alone opens a connection" in err
        assert "--log wandb" in err

    def test_a_finished_run_is_shown_on_any_machine(self, run_cli, finished, monkeypatch):
        monkeypatch.setenv("NPROC", "63")
        assert run_cli("resume", finished)[0] == 0

    def test_no_name_moves_the_cursor(self, run_cli, finished):
        self.change(finished, "data", name="\x1b[2Jevil\x9b")
        code, out, err = run_cli("compare", finished)
        assert code == 0
        assert "\\x1b[2Jevil\\x9b" in out
        self.change(finished, "data", hash="0")
        (finished / "metrics.jsonl").write_text('{"stage": "\x1b[2J"}\n')
        code, _, err = run_cli("compare", finished)
        assert code == 2
        assert "\x1b" not in out + err
