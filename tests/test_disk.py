import errno
import os

import pytest

from countmorl.disk import append, explained_write, own_file, read_bytes, truncate
from countmorl.errors import DataError, RunError


class TestExplainedWrite:
    def test_permission(self, tmp_path):
        with (
            pytest.raises(DataError, match="No permission to write"),
            explained_write(tmp_path / "x", DataError),
        ):
            raise PermissionError(errno.EACCES, "denied")

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            (errno.ENOSPC, "disk is full"),
            (errno.EDQUOT, "disk is full"),
            (errno.EROFS, "disk is read-only"),
            (errno.EFBIG, "may not grow so large"),
            (errno.ENOENT, "has gone"),
            (errno.EIO, r"could not be written \(Input/output error\)"),
            (errno.EINTR, "could not be written"),
        ],
    )
    def test_every_refusal_is_a_sentence(self, tmp_path, code, words):
        with pytest.raises(RunError, match=words), explained_write(tmp_path / "x"):
            raise OSError(code, os.strerror(code))

    def test_other_errors_pass(self, tmp_path):
        with pytest.raises(TypeError, match="mine"), explained_write(tmp_path / "x"):
            raise TypeError("mine")


class TestOwnFile:
    def write(self, path):
        append(path, b"more")

    @pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
    def test_a_link_is_refused(self, tmp_path, link):
        (tmp_path / "victim").write_text("precious")
        getattr(tmp_path / "x", link)(tmp_path / "victim")
        for change in (self.write, lambda path: truncate(path, 0)):
            with pytest.raises(RunError, match="link"):
                change(tmp_path / "x")
        assert (tmp_path / "victim").read_text() == "precious"

    def test_a_pipe_is_refused_and_not_waited_for(self, tmp_path):
        os.mkfifo(tmp_path / "x")
        with pytest.raises(RunError, match=r"could not be written|not an ordinary file"):
            self.write(tmp_path / "x")
        with pytest.raises(RunError, match="not an ordinary file"):
            read_bytes(tmp_path / "x", 9)

    def test_it_is_closed_again(self, tmp_path):
        with own_file(tmp_path / "x", os.O_WRONLY | os.O_CREAT) as file:
            os.fstat(file)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(file)


def test_appending_reading_and_cutting(tmp_path):
    append(tmp_path / "x", b"one\n")
    append(tmp_path / "x", b"two\n")
    assert read_bytes(tmp_path / "x", 8) == b"one\ntwo\n"
    truncate(tmp_path / "x", 4)
    assert read_bytes(tmp_path / "x", 8) == b"one\n"


def test_a_disk_that_takes_a_byte_at_a_time(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, bytes(content[:1])))
    append(tmp_path / "x", b"whole")
    assert (tmp_path / "x").read_bytes() == b"whole"


class TestReadBytes:
    def test_a_file_that_is_too_large(self, tmp_path):
        (tmp_path / "x").write_bytes(b"123")
        with pytest.raises(RunError, match="more than the 0 MB that such a file may have"):
            read_bytes(tmp_path / "x", 2)

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(RunError, match="There is no file"):
            read_bytes(tmp_path / "x", 2)

    def test_a_failing_disk(self, tmp_path, monkeypatch):
        (tmp_path / "x").touch()

        def fail(*_):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "read", fail)
        with pytest.raises(RunError, match="could not be read"):
            read_bytes(tmp_path / "x", 2)


def test_new_names_are_written_to_the_disk_too(tmp_path, monkeypatch):
    """A file's own contents do not help where the folder has forgotten its name."""
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    append(tmp_path / "x", b"1")
    assert synced == [(tmp_path / "x").stat().st_ino, tmp_path.stat().st_ino]
