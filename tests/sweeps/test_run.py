"""Whole sweeps with real processes: unbroken, killed again and again, and grown."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from countmorl import Run
from countmorl.errors import ConfigError
from countmorl.sweeps.run import sweep
from countmorl.sweeps.worker import environment
from sweeps_parts import Silent, contents, small_plan

PLAN = """
import sys
sys.path[:0] = {path!r}
from sweeps_parts import small_plan
from countmorl.sweeps.run import sweep
from pathlib import Path
result = sweep(small_plan(Path({folder!r}), "mopo", "bc"), "sweep", workers=2, memory=9)
sys.exit(0 if result.complete else 1)
"""


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """A folder with a sweep of two methods, as it is when nothing happens."""
    folder = tmp_path_factory.mktemp("unbroken")
    plan, watcher = small_plan(folder, "mopo", "bc"), Silent()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = sweep(plan, "sweep", workers=2, memory=9, watcher=watcher)
    assert result.complete
    assert len(watcher.lines) == 1 + 3
    return folder


def same(one: Path, two: Path) -> None:
    whole, pieced = contents(one / "sweep"), contents(two / "sweep")
    assert whole.keys() == pieced.keys()
    assert [name for name in whole if whole[name] != pieced[name]] == []


@pytest.mark.slow
def test_every_run_is_an_ordinary_one(unbroken):
    run = Run.open(unbroken / "sweep" / "mopo-log-seed0")
    assert run.finished
    assert {record.stage for record in run.records()} == {"policy"}
    assert run.policy_path.exists()


class Killer(Silent):
    """Kills workers in the middle of their work, three of them."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder, self.killed = folder, []

    def tick(self, running):
        for name in running:
            wrote = self.folder / name / "metrics.jsonl"
            if len(self.killed) < 3 and name not in self.killed and wrote.exists():
                for pid in workers_of(os.getpid()):
                    os.kill(pid, signal.SIGKILL)
                self.killed.append(name)
                return


def workers_of(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(pid) for pid in children.read_text().split()] if children.exists() else []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds its children in /proc")
def test_workers_that_are_killed_lose_nothing(unbroken, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Small runs are over in a moment: the wait between two looks is shorter than they are.
    monkeypatch.setattr("countmorl.sweeps.drive.WAIT", 0.001)
    killer = Killer(tmp_path / "sweep")
    plan = small_plan(tmp_path, "mopo", "bc")
    result = sweep(plan, "sweep", workers=2, memory=9, watcher=killer)
    assert result.complete, result.failed
    same(unbroken, tmp_path)


@pytest.mark.slow
def test_a_sweep_that_is_killed_loses_nothing_and_its_workers_end(unbroken, tmp_path):
    program = PLAN.format(path=[str(Path(__file__).parents[1])], folder=str(tmp_path))
    words = [sys.executable, "-c", program]
    with subprocess.Popen(
        words, cwd=tmp_path, stderr=subprocess.DEVNULL, env=environment()
    ) as parent:
        wrote = tmp_path / "sweep" / "mopo-log-seed0" / "config.json"
        while not wrote.exists() and parent.poll() is None:
            pass
        parent.kill()
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr.decode()
    same(unbroken, tmp_path)


@pytest.mark.slow
def test_a_part_of_what_is_done_is_done(unbroken, monkeypatch):
    monkeypatch.chdir(unbroken)
    watcher = Silent()
    result = sweep(small_plan(unbroken, "bc"), "sweep", watcher=watcher)
    assert (result.complete, watcher.lines) == (True, ["begin 1"])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"workers": 0}, r"`workers` must be at least 1, got 0"),
        ({"memory": -1.0}, r"`memory` must be a number of GB above 0, got -1"),
        ({"memory": float("inf")}, r"`memory` must be a number of GB above 0, got inf"),
    ],
)
def test_wrong_sizes(tmp_path, how, said):
    with pytest.raises(ConfigError, match=said):
        sweep(small_plan(tmp_path, "bc"), tmp_path / "sweep", **how)
    assert not (tmp_path / "sweep").exists()


def test_runs_that_do_not_fit_into_memory_are_told(tmp_path):
    result = sweep(small_plan(tmp_path, "bc"), tmp_path / "sweep", memory=0.1, watcher=Silent())
    assert "GB of memory, and 0.1 GB are there" in result.failed["bc-log-seed0"]
