"""A run's folder from somebody else: links in it lead to the reader's own files."""

import os

import pytest

from countmorl.automatic.folder import AutoFolder
from countmorl.disk import appending
from countmorl.errors import RunError
from countmorl.sweeps.folder import SweepFolder

PRECIOUS = "precious\n" * 500
NAMES = (
    ".lock",
    "metrics.jsonl",
    "timing.jsonl",
    "config.json",
    "checkpoint.safetensors",
    "policy.safetensors",
)


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_text(PRECIOUS)
    return path


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
@pytest.mark.parametrize("name", NAMES)
def test_resuming_destroys_nothing_that_a_link_points_to(halted, victim, name, link, run_cli):
    (halted / name).unlink(missing_ok=True)
    link(victim, halted / name)
    before = victim.stat()
    code, _, err = run_cli("resume", halted)
    assert victim.read_text() == PRECIOUS
    assert victim.stat().st_mtime_ns == before.st_mtime_ns
    assert "Traceback" not in err
    if link is os.link and name == "metrics.jsonl":
        # What it holds is no run's metrics, which is said before anything is opened to be changed.
        assert (code, str(halted / name) in err) == (2, True)
    elif link is os.symlink or name in (".lock", "timing.jsonl"):
        assert code == 2
        assert err.startswith(f"countmorl: {halted / name} ")
        assert "link" in err


@pytest.mark.parametrize("name", ["stages", "policies"])
def test_no_folder_of_others_is_written_to(halted, tmp_path, name, run_cli):
    precious = tmp_path / "precious"
    precious.mkdir()
    files = ("policy.safetensors", "epoch-9.safetensors", ".model.safetensors.1.tmp")
    for file in files:
        (precious / file).write_text("precious")
    if (halted / name).exists():
        (halted / name).rmdir()
    (halted / name).symlink_to(precious)
    code, _, err = run_cli("resume", halted)
    assert code == 2
    assert f"{name} is a link" in err
    assert {path.name: path.read_text() for path in precious.iterdir()} == dict.fromkeys(
        files, "precious"
    )


@pytest.mark.parametrize("place", ["bc-toy-0", "logs", "logs/bc-toy-0.log", "sweep.json", ".lock"])
def test_nothing_of_a_sweep_is_written_through_a_link(tmp_path, victim, place):
    sweep = SweepFolder(tmp_path / "sweep")
    (sweep.path / place).parent.mkdir(parents=True)
    (sweep.path / place).symlink_to(victim)
    with pytest.raises(RunError, match="is a link"), sweep.lock():
        raise AssertionError("somebody works in it")
    assert victim.read_text() == PRECIOUS


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_what_a_worker_says_goes_through_no_link(tmp_path, victim, link):
    log = SweepFolder(tmp_path / "sweep").log_path("bc-toy-0")
    log.parent.mkdir(parents=True)
    link(victim, log)
    with pytest.raises(RunError, match="link"), appending(log):
        raise AssertionError("it was opened")
    assert victim.read_text() == PRECIOUS


@pytest.mark.parametrize("place", ["runs", "judgements", "judgements/bc.json", "result.json"])
def test_nothing_of_auto_is_written_through_a_link(tmp_path, victim, place):
    auto = AutoFolder(tmp_path / "auto")
    (auto.path / place).parent.mkdir(parents=True)
    auto.write_state({"format": 1, "ask": {}, "spent": 0.0})
    (auto.path / place).symlink_to(victim)
    with pytest.raises(RunError, match="is a link"), auto.lock():
        raise AssertionError("somebody works in it")
    assert victim.read_text() == PRECIOUS


def test_a_pipe_is_not_waited_for(halted, run_cli):
    (halted / "timing.jsonl").unlink()
    os.mkfifo(halted / "timing.jsonl")
    code, _, err = run_cli("resume", halted)
    assert code == 2
    assert "not an ordinary file" in err
