import os

import pytest

from countmorl.errors import RunError
from countmorl.runs.lock import LOCK, BusyError, hold_lock, is_locked


def take(folder):
    with hold_lock(folder):
        pass


def test_whether_a_folder_is_locked(tmp_path):
    assert not is_locked(tmp_path)
    with hold_lock(tmp_path):
        assert is_locked(tmp_path)
        with pytest.raises(BusyError, match="Another process"):
            take(tmp_path)
    assert not is_locked(tmp_path)


def test_what_the_file_holds_is_never_touched(tmp_path):
    (tmp_path / LOCK).write_text("mine")
    take(tmp_path)
    assert (tmp_path / LOCK).read_text() == "mine"


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_link_is_refused(tmp_path, link):
    (tmp_path / "victim").write_text("precious")
    getattr(tmp_path / LOCK, link)(tmp_path / "victim")
    with pytest.raises(RunError, match="link"):
        take(tmp_path)
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / LOCK)
    with pytest.raises(RunError, match="not an ordinary file"):
        take(tmp_path)


def test_a_folder_that_has_gone_is_said(tmp_path):
    with pytest.raises(RunError, match="has gone"):
        take(tmp_path / "nowhere")


def test_a_lock_of_a_discarded_folder_is_none(tmp_path, monkeypatch):
    """Between opening and locking, the holder has discarded the folder and another was made."""
    opened = os.open

    def replaced(path, *flags, **more):
        file = opened(path, *flags, **more)
        (tmp_path / LOCK).unlink()
        (tmp_path / LOCK).write_bytes(b"")
        return file

    monkeypatch.setattr(os, "open", replaced)
    with pytest.raises(BusyError):
        take(tmp_path)
