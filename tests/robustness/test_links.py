"""A run's folder from somebody else: links in it lead to the reader's own files."""

import os

import pytest

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


def test_a_pipe_is_not_waited_for(halted, run_cli):
    (halted / "timing.jsonl").unlink()
    os.mkfifo(halted / "timing.jsonl")
    code, _, err = run_cli("resume", halted)
    assert code == 2
    assert "not an ordinary file" in err
