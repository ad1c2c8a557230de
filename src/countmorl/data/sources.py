"""`load`: one function for every way to name a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.download import download
from countmorl.data.fields import Fields
from countmorl.data.names import D4RL
from countmorl.data.readers.hdf5 import Mode, read_hdf5
from countmorl.data.readers.minari import PREFIX, read_minari
from countmorl.data.readers.npz import read_mapping, read_npz
from countmorl.envs.tasks import Task, find_task
from countmorl.errors import DataError, did_you_mean

Source = str | Path | Mapping[str, np.ndarray] | Dataset
SUFFIXES = (".hdf5", ".h5", ".npz")


def load(
    source: Source,
    *,
    task: str | None = None,
    mode: Mode = "true",
    rows: int | None = None,
) -> Dataset:
    """Load a dataset and check it.

    `source` is a D4RL name (`hopper-medium-v2`, downloaded once), a Minari id
    (`minari:mujoco/hopper/medium-v0`), a path to an HDF5 or NPZ file, or a mapping of arrays.
    `task` overrides what the dataset is judged on, `rows` keeps only the first rows.
    """
    wanted = find_task(task) if task else None
    if isinstance(source, Dataset):
        dataset = source
    else:
        dataset = Dataset.of(read(source, mode=mode))
    if wanted:
        dataset = dataset.with_task(wanted)
    return dataset if rows is None else dataset.first(rows)


def read(source: str | Path | Mapping[str, np.ndarray], *, mode: Mode = "true") -> Fields:
    """Read a source without checking its values, as `countmorl data check` needs it."""
    if isinstance(source, Mapping):
        return read_mapping(source)
    text = str(source)
    if text in D4RL:
        known = D4RL[text]
        path = known.path if known.path.exists() else download(known)
        return read_hdf5(path, name=text, task=known.task, mode=mode)
    if text.startswith(PREFIX):
        return read_minari(text.removeprefix(PREFIX))
    return _read_file(Path(text).expanduser(), text, mode)


def _read_file(path: Path, text: str, mode: Mode) -> Fields:
    if len(path.name) > 255:  # No file can have such a name, and asking for it is an error.
        raise _unknown(text)
    if path.is_dir():
        raise DataError(f"{path} is a folder. Give a file ({', '.join(SUFFIXES)}) or a name.")
    if path.suffix in (".hdf5", ".h5"):
        return read_hdf5(path, mode=mode)
    if path.suffix == ".npz":
        return read_npz(path)
    if path.exists():
        raise DataError(
            f"{path} has the ending '{path.suffix}', which is not known. "
            f"Known: {', '.join(SUFFIXES)}."
        )
    raise _unknown(text)


def _unknown(name: str) -> DataError:
    hint = did_you_mean(name, D4RL)
    return DataError(f"No dataset named '{name}'.{hint} `countmorl data list` shows all.")


def locate(source: str) -> str:
    """Return the source as it can be found again from another folder."""
    if source in D4RL or source.startswith(PREFIX):
        return source
    return str(Path(source).expanduser().resolve())


def describe_task(task: Task | None) -> str:
    """Say in a few words what a dataset is judged on."""
    return f"{task.name} ({task.env_id})" if task else "none known; policies are not simulated"
