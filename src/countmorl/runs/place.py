"""A run's folder as a place on disk: made by one process only, without links, and cleaned up."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from countmorl.disk import explained_read, explained_write
from countmorl.errors import RunError
from countmorl.runs.lock import LOCK

LEFTOVER = re.compile(
    r"\.((config|calibration|judgement|choice|guard|curve|coverage|card|sweep|failures|auto|result)\.json"
    r"|.+\.safetensors)\.\d+(-[0-9a-f]{16})?\.tmp"
)
"""Temporary files of ours, by name: a process that was killed leaves what it was writing."""
INNER = ("stages", "policies", "guard", "logs", "judgements")
"""Folders of ours within a run's, a sweep's or that of `auto`."""
OWN = (
    "stages",
    "policies",
    "tensorboard",
    "config.json",
    "metrics.jsonl",
    "timing.jsonl",
    "checkpoint.safetensors",
    "policy.safetensors",
    "calibration.json",
    LOCK,
)
"""Everything that a training puts into its run's folder."""


def claim(folder: Path) -> bool:
    """Make a folder for a new run; tell whether this process made it, or it was there and blank."""
    with explained_write(folder / LOCK):
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir()
        except FileExistsError:
            if not folder.is_dir() or not _is_blank(folder):
                raise RunError(
                    f"{folder} exists already. Go on with it by `countmorl resume {folder}`, or "
                    "choose another folder with --out."
                ) from None
            return False
    return True


def _is_blank(folder: Path) -> bool:
    """Whether a folder is empty but for what a kill before the first file leaves."""
    names = [path.name for path in folder.iterdir()]
    return all(name == LOCK or LEFTOVER.fullmatch(name) for name in names)


def discard(folder: Path, *, made: bool) -> None:
    """Remove what a training has put into a folder, and the folder where the training made it."""
    for name in OWN:
        path = folder / name
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    with suppress(OSError):  # Somebody else's files are in it: it stays.
        if made:
            folder.rmdir()


def drop_leftovers(folder: Path) -> None:
    """Remove what killed processes left in a folder whose lock this process holds."""
    with explained_write(folder):
        for place in (folder, *(path for path in folder.iterdir() if path.is_dir())):
            for path in () if place.is_symlink() else place.glob(".*.tmp"):
                if LEFTOVER.fullmatch(path.name):
                    path.unlink(missing_ok=True)


def refuse_links(folder: Path) -> None:
    """Raise where a folder of runs holds a link: writing there would change what it points to."""
    with explained_read(folder):
        inner = [folder / name for name in INNER if (folder / name).is_dir()]
        for place in (folder, *inner):
            for path in (place, *place.iterdir()) if place in inner else place.iterdir():
                if path.is_symlink():
                    raise RunError(
                        f"{path} is a link. A folder of runs holds its own files only, since what "
                        "a link points to would be changed with them. Put a copy in its place."
                    )
