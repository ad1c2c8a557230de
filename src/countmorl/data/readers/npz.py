"""NPZ files, never with pickle."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Container
from pathlib import Path

import numpy as np

from countmorl.data.aliases import KEYS, dims_of, task_named
from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.envs.tasks import task_of_file
from countmorl.errors import DataError
from countmorl.files import atomic
from countmorl.runs.options import DataOptions


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
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(item.file_size for item in archive.infolist())
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if size > memory:
            raise DataError(f"{path} unpacks to {size / 1e9:,.0f} GB, more than the memory here.")
        with np.load(path, allow_pickle=False) as file:
            found = {key: file[key] for key in file.files if key in wanted}
            return found, tuple(key for key in file.files if key not in wanted)
    except FileNotFoundError as error:
        raise DataError(
            f"There is no file {path}. Check the path; `countmorl data list` shows what has a name."
        ) from error
    except (
        OSError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        KeyError,
        MemoryError,
        RuntimeError,
    ) as error:
        raise DataError(
            f"{path} is not a readable NPZ file of plain arrays: {error}. Write it with "
            "numpy.savez and no objects."
        ) from error


def write_npz(dataset: Dataset, path: Path) -> None:
    """Write a dataset as compressed NPZ, atomically; the task goes with it."""
    task = {"env_id": np.array(dataset.task.env_id.encode())} if dataset.task else {}
    with atomic(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **dataset.stored, **task)
