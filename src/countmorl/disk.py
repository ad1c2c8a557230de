"""Calls to the operating system for files of ours: no link is followed, every refusal is said."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from countmorl.errors import CountMorlError, RunError

# Windows knows neither of the first three, and would translate line ends without the last.
SAFELY = sum(getattr(os, f"O_{name}", 0) for name in ("NOFOLLOW", "NONBLOCK", "CLOEXEC", "BINARY"))
PIECE = 1 << 20
"""Bytes that are read at once."""


@contextmanager
def explained_write(path: Path, error: type[CountMorlError] = RunError) -> Iterator[None]:
    """Turn the operating system's refusals to write `path` into sentences."""
    try:
        yield
    except OSError as cause:
        raise error(_why_not(path, cause)) from cause
    except ValueError as cause:
        if "null byte" not in str(cause):
            raise
        raise error(f"{path} is no path: it holds a zero byte.") from cause


def _why_not(path: Path, cause: OSError) -> str:
    if cause.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return (
            f"The disk is full: {path} could not be written. Free some space and try again; what "
            "was there before is unchanged."
        )
    if cause.errno == errno.EROFS:
        return f"{path} could not be written: its disk is read-only. Choose another place."
    if cause.errno == errno.ELOOP:
        return _is_link(path)
    if cause.errno == errno.EFBIG:
        return f"{path} could not be written: files may not grow so large here (`ulimit -f`)."
    if isinstance(cause, PermissionError):
        return f"No permission to write {path}. Choose another place."
    if isinstance(cause, (FileExistsError, NotADirectoryError)):
        return f"{path.parent} is not a folder, so {path} cannot be written."
    if isinstance(cause, FileNotFoundError):
        return f"{path} could not be written: the folder {path.parent} has gone."
    said = cause.strerror or str(cause)
    return f"{path} could not be written ({said}). What was there before is unchanged."


def _is_link(path: Path) -> str:
    return (
        f"{path} is a link, and links are not followed here: they may lead to files of somebody "
        "else. Put a copy of the file in its place."
    )


@contextmanager
def explained_read(path: Path, error: type[CountMorlError] = RunError) -> Iterator[None]:
    """Turn the operating system's refusals to read `path` into sentences."""
    try:
        yield
    except FileNotFoundError as cause:
        raise error(f"There is no file {path}.") from cause
    except OSError as cause:
        said = cause.strerror or str(cause)
        raise error(f"{path} could not be read ({said}).") from cause
    except MemoryError as cause:
        raise error(f"There is not enough memory to read {path}.") from cause


@contextmanager
def own_file(path: Path, flags: int) -> Iterator[int]:
    """Open an ordinary file to change it where it stands: no link, no second name, no pipe."""
    descriptor = os.open(path, flags | SAFELY, 0o666)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise RunError(f"{path} is not an ordinary file.")
        if about.st_nlink > 1:
            raise RunError(
                f"{path} has a second name (a hard link), under which it would change too. Put a "
                "copy of the file in its place."
            )
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    """Write all of it, however much the system takes at once."""
    rest = memoryview(content)
    while len(rest):
        rest = rest[os.write(descriptor, rest) :]


def append(path: Path, content: bytes) -> None:
    """Add to the end of a file of ours, and wait until the disk has it."""
    with explained_write(path), own_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as file:
        is_new = os.fstat(file).st_size == 0
        write_all(file, content)
        os.fsync(file)
        if is_new:
            sync_folder(path.parent)


@contextmanager
def appending(path: Path) -> Iterator[int]:
    """Open a file of ours, for a program of ours to add to its end."""
    with explained_write(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with own_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as file:
            yield file


def truncate(path: Path, size: int) -> None:
    """Cut a file of ours off."""
    with explained_write(path), own_file(path, os.O_WRONLY) as file:
        os.ftruncate(file, size)
        os.fsync(file)


def read_bytes(path: Path, most: int) -> bytes:
    """All of an ordinary file of at most so many bytes; a pipe would never end."""
    with explained_read(path):
        descriptor = os.open(path, os.O_RDONLY | SAFELY & ~getattr(os, "O_NOFOLLOW", 0))
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise RunError(f"{path} is not an ordinary file.")
            if about.st_size > most:
                raise RunError(
                    f"{path} has {about.st_size / 1e6:,.0f} MB, more than the {most / 1e6:,.0f} MB "
                    "that such a file may have."
                )
            pieces = []
            while piece := os.read(descriptor, PIECE):
                pieces.append(piece)
            return b"".join(pieces)
        finally:
            os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows of new names in a folder: a file that is whole can still vanish."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows cannot open folders.
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # Some shared disks know no such call.
            raise
    finally:
        os.close(descriptor)
