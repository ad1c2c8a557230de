"""One process at a time in a folder: locks that the system takes back from whoever dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from countmorl.disk import explained_write, own_file
from countmorl.errors import RunError

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind; runs are not locked there.
    fcntl = None

LOCK = ".lock"


class BusyError(RunError):
    """Another process works in this folder."""


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Keep other processes from working in a folder at the same time."""
    if fcntl is None:
        yield
        return
    with ExitStack() as stack:
        with explained_write(folder / LOCK):  # What the file holds is never touched.
            file = stack.enter_context(own_file(folder / LOCK, os.O_RDWR | os.O_CREAT))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _busy(folder) from error
        except OSError as error:
            raise RunError(f"{folder} cannot be locked ({error.strerror}).") from error
        if not _is_still_there(folder, file):
            raise _busy(folder)
        yield


def _is_still_there(folder: Path, file: int) -> bool:
    """Whether the file that was locked still has its name: its folder may have been discarded."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(folder / LOCK))
    except OSError:
        return False


def _busy(folder: Path) -> BusyError:
    return BusyError(f"Another process is training in {folder}. Wait for it, or stop it first.")


def is_locked(folder: Path) -> bool:
    """Whether another process works in a folder at this moment."""
    path = folder / LOCK
    if fcntl is None or not path.exists():
        return False
    with explained_write(path), own_file(path, os.O_RDONLY) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
