"""NPZ files, never with pickle: every array is looked at before memory is taken for it."""

from __future__ import annotations

import zipfile
from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from countmorl.data.aliases import KEYS, dims_of, task_named
from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.data.foreign import bytes_needed, check_room, reading
from countmorl.envs.tasks import task_of_file
from countmorl.errors import DataError
from countmorl.files import atomic
from countmorl.runs.options import DataOptions

ADVICE = "Write it with numpy.savez and no objects."
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How numpy packs arrays; others may unpack to anything for hours."""


def read_npz(path: Path, *, options: DataOptions | None = None) -> Fields:
    """Read an NPZ file; arrays of objects, which need pickle, are refused.

    Its rows have one way to be read, so the options' `mode` changes nothing.
    """
    found, unused = npz_arrays(path)
    task = task_named(found) or task_of_file(path.stem, dims_of(found))
    return Fields.of(found, name=path.stem, task=task, options=options, unused=unused)


def npz_arrays(
    path: Path, wanted: Container[str] = KEYS
) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """The arrays of a file that are wanted, and the names of all others."""
    with reading(path, "NPZ file of plain arrays", ADVICE), zipfile.ZipFile(path) as archive:
        members, unused = _members(path, archive, wanted)
        sizes = [_size(path, archive, name, item) for name, item in members.items()]
        check_room(path, sum(sizes))
        return {name: _read(archive, item) for name, item in members.items()}, unused


def _members(
    path: Path, archive: zipfile.ZipFile, wanted: Container[str]
) -> tuple[dict[str, zipfile.ZipInfo], tuple[str, ...]]:
    """Arrays that are wanted by name, and the names of everything else."""
    members: dict[str, zipfile.ZipInfo] = {}
    unused = dict[str, None]()
    for item in archive.infolist():
        name = item.filename.removesuffix(".npy")
        if name not in wanted or name == item.filename:
            unused[name] = None
        elif name in members:
            raise DataError(f"{path} holds '{name}' twice; keep one.")
        else:
            members[name] = item
    return members, tuple(unused)


def _size(path: Path, archive: zipfile.ZipFile, name: str, item: zipfile.ZipInfo) -> int:
    """Bytes that an array needs; what its header promises must be what the file holds."""
    if item.compress_type not in METHODS:
        raise DataError(f"`{name}` of {path} is packed in a way that numpy never does. {ADVICE}")
    with archive.open(item) as stream:
        shape, dtype = _header(stream)
        held = item.file_size - stream.tell()
    count = 1
    for length in shape:
        count *= length
    if dtype.hasobject:
        raise DataError(f"`{name}` of {path} holds objects, not plain arrays. {ADVICE}")
    if count * dtype.itemsize != held:
        raise DataError(
            f"`{name}` of {path} promises {count * dtype.itemsize:,} bytes of numbers, but holds "
            f"{held:,}. The file is damaged."
        )
    return bytes_needed(dtype, count)


def _header(stream: Any) -> tuple[tuple[int, ...], np.dtype]:
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(stream)
    else:  # Later ones differ in how long a header may be.
        shape, _, dtype = npy.read_array_header_2_0(stream)
    return shape, dtype


def _read(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(item) as stream:
        return npy.read_array(stream, allow_pickle=False)


def write_npz(dataset: Dataset, path: Path) -> None:
    """Write a dataset as compressed NPZ, atomically; the task goes with it."""
    task = {"env_id": np.array(dataset.task.env_id.encode())} if dataset.task else {}
    with atomic(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **dataset.stored, **task)
