"""Killed and stopped processes: the one place where training runs outside the test's process."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from countmorl.cli import main
from countmorl.runs.folder import Run

EPOCHS = 150
OPTIONS = ("--epochs", EPOCHS, "--updates", 20, "--batch", 16, "--hidden", 8, "--save-every", 2)
PROGRAM = "import sys; from countmorl.cli import main; sys.exit(main())"


def spawn(*arguments) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines(run: Path) -> int:
    path = run / "metrics.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(run: Path, count: int, process: subprocess.Popen) -> None:
    """Return as soon as the metrics hold `count` lines; look at them every millisecond."""
    deadline = time.monotonic() + 120
    while lines(run) < count:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline, f"{lines(run)} lines after two minutes"
        time.sleep(0.001)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A log and the run that nothing interrupted."""
    import numpy as np

    folder = tmp_path_factory.mktemp("work")
    rng = np.random.default_rng(0)
    np.savez(
        folder / "log.npz",
        observations=rng.standard_normal((60, 3)).astype(np.float32),
        actions=rng.uniform(-1, 1, (60, 2)).astype(np.float32),
        rewards=np.zeros(60, np.float32),
    )
    code = main(
        ["train", "bc", str(folder / "log.npz"), "--out", str(folder / "unbroken")]
        + [str(option) for option in OPTIONS]
    )
    assert code == 0
    return folder


def assert_unbroken(run: Path, work: Path) -> None:
    whole = work / "unbroken"
    assert lines(whole) == EPOCHS
    for name in ("metrics.jsonl", "policy.safetensors"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.slow
def test_killed_three_times_and_resumed_it_is_the_unbroken_run(work, tmp_path, run_cli):
    run, rng = tmp_path / "run", random.Random(0)
    command = ("train", "bc", work / "log.npz", "--out", run, *OPTIONS)
    reached = 0
    for _ in range(3):
        process = spawn(*command)
        try:
            wait_for(run, reached + rng.randint(3, 20), process)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == -signal.SIGKILL
        reached, command = lines(run), ("resume", run)
    assert reached < EPOCHS
    code, _, err = run_cli("resume", run)
    assert (code, err.count("Traceback")) == (0, 0)
    assert_unbroken(run, work)


@pytest.mark.slow
def test_ctrl_c_says_how_to_resume_and_loses_nothing(work, tmp_path, run_cli):
    run = tmp_path / "run"
    process = spawn("train", "bc", work / "log.npz", "--out", run, *OPTIONS)
    try:
        wait_for(run, 15, process)
        # While it runs, no other process may train in its folder.
        code, _, err = run_cli("resume", run)
        assert code == 2
        assert "Another process is training" in err
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert f"countmorl resume {run}" in err
    assert "nothing is lost" in err
    assert "Traceback" not in err
    assert 15 <= lines(run) < EPOCHS
    saved = Run.open(run).load_checkpoint()
    assert saved is not None
    assert saved[1]["epoch"] == lines(run)
    assert run_cli("resume", run)[0] == 0
    assert_unbroken(run, work)
