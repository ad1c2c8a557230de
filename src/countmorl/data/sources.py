"""`load`: one function for every way to name a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.download import download
from countmorl.data.fields import Fields
from countmorl.data.names import D4RL
from countmorl.data.readers import PREFIXES, READERS
from countmorl.data.readers.hdf5 import read_hdf5
from countmorl.data.readers.mapping import read_mapping
from countmorl.envs.tasks import Task, find_task
from countmorl.errors import DataError, did_you_mean
from countmorl.runs.options import DataOptions, Mode

Source = str | Path | Mapping[str, np.ndarray] | Dataset


def load(
    source: Source,
    *,
    task: str | None = None,
    mode: Mode = "true",
    rows: int | None = None,
    options: DataOptions | None = None,
) -> Dataset:
    """Load a dataset and check it.

    `source` is a D4RL name (`hopper-medium-v2`, downloaded once), a Minari id
    (`minari:mujoco/hopper/medium-v0`), a path to an HDF5 or NPZ file, or a mapping of arrays.
    `task` overrides what the dataset is judged on, `rows` keeps only the first rows; `options`
    hold all of these at once.
    """
    options = options or DataOptions(task=task, mode=mode, rows=rows)
    wanted = find_task(options.task) if options.task else None
    if isinstance(source, Dataset):
        dataset = source
    else:
        dataset = Dataset.of(read(source, mode=options.mode))
    if wanted:
        dataset = dataset.with_task(wanted)
    return dataset if options.rows is None else dataset.first(options.rows)


def read(source: str | Path | Mapping[str, np.ndarray], *, mode: Mode = "true") -> Fields:
    """Read a source without checking its values, as `countmorl data check` needs it."""
    if isinstance(source, Mapping):
        return read_mapping(source)
    text = str(source)
    if text in D4RL:
        known = D4RL[text]
        path = known.path if known.path.exists() else download(known)
        return read_hdf5(path, name=text, task=known.task, mode=mode)
    for prefix, reader in PREFIXES.items():
        if text.startswith(prefix):
            return reader(text.removeprefix(prefix), mode=mode)
    return _read_file(Path(text).expanduser(), text, mode)


def _read_file(path: Path, text: str, mode: Mode) -> Fields:
    if len(path.name) > 255:  # No file can have such a name, and asking for it is an error.
        raise _unknown(text)
    if path.is_dir():
        raise DataError(f"{path} is a folder. Give a file ({', '.join(READERS)}) or a name.")
    if path.suffix in READERS:
        return READERS[path.suffix](path, mode=mode)
    if path.exists():
        raise DataError(
            f"{path} has the ending '{path.suffix}', which is not known. "
            f"Known: {', '.join(READERS)}."
        )
    raise _unknown(text)


def _unknown(name: str) -> DataError:
    hint = did_you_mean(name, D4RL)
    return DataError(f"No dataset named '{name}'.{hint} `countmorl data list` shows all.")


def locate(source: str) -> str:
    """Return the source as it can be found again from another folder."""
    if source in D4RL or source.startswith(tuple(PREFIXES)):
        return source
    return str(Path(source).expanduser().resolve())


def describe_task(task: Task | None) -> str:
    """Say in a few words what a dataset is judged on."""
    return f"{task.name} ({task.env_id})" if task else "none known; policies are not simulated"
