"""Files that others made: found, plain files, no larger than memory, and read or refused."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from countmorl.errors import CountMorlError, DataError
from countmorl.machine import available_memory

SINGLE = np.dtype(np.float32).itemsize


def user_path(text: str | Path) -> Path:
    """A path as a user writes it, with ~ for a home folder."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        user = Path(text).parts[0]
        raise DataError(
            f"'{text}' begins with {user}, but nobody of that name has a home folder here. "
            "Give the whole path."
        ) from error


def kind_of(path: Path) -> int | None:
    """What a path leads to, as `stat` tells kinds of files; None where there is nothing."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):  # Too long for a name, or with a zero byte in it: no file.
        return None


def require_file(path: Path) -> None:
    """Raise unless a path leads to a plain file: a pipe or a device may never end."""
    kind = kind_of(path)
    if kind is None:
        raise DataError(
            f"There is no file {path}. Check the path; `countmorl data list` shows what has a name."
        )
    if kind == stat.S_IFDIR:
        raise DataError(f"{path} is a folder; wanted a file.")
    if kind != stat.S_IFREG:
        raise DataError(f"{path} is a pipe or a device. Copy what it gives into a file first.")


@contextmanager
def reading(path: Path, what: str, advice: str) -> Iterator[None]:
    """Read a plain file; whatever a library says of a damaged one becomes a `DataError`.

    Libraries promise no errors of certain kinds for files that nobody meant to write, so all are
    caught here: nothing but reading may stand in the block.
    """
    require_file(path)
    try:
        yield
    except CountMorlError:
        raise
    except MemoryError as error:
        raise DataError(
            f"{path} needs more memory than there is. Is it damaged? Else cut it into parts, or "
            "close other programs."
        ) from error
    except Exception as error:
        raise DataError(f"{path} is not a readable {what}: {_sentence(error)} {advice}") from error


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return (text if len(text) <= 300 else f"{text[:297]}...").rstrip(".") + "."


def bytes_needed(dtype: np.dtype, count: int) -> int:
    """Memory that an array takes while it is brought to single precision."""
    return count * (SINGLE if dtype == np.float32 else dtype.itemsize + SINGLE)


def check_room(path: Path, size: int) -> None:
    """Raise where a file unpacks to more bytes than may be taken here."""
    there = available_memory()
    if there is not None and size > there:
        raise DataError(
            f"{path} holds {size / 1e9:,.1f} GB of numbers, more than the {there / 1e9:,.1f} GB of "
            "memory that are free here. Is it damaged? Else cut it into parts."
        )
