"""HDF5 files in D4RL's layout: read (v2, v0 and ours) and write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.fields import ALIASES, Fields
from countmorl.envs.tasks import Task, find_task, task_of_file
from countmorl.errors import ConfigError, DataError
from countmorl.files import atomic

Mode = Literal["true", "d4rl-exact"]
KEYS = {name for names in ALIASES.values() for name in names}


def read_hdf5(
    path: Path, *, name: str | None = None, task: Task | None = None, mode: Mode = "true"
) -> Fields:
    """Read a file in D4RL's layout.

    `true`: every row, stored next observations, terminal rows with their true next state,
    timeouts never terminal. `d4rl-exact`: the rows of the old `d4rl.qlearning_dataset`.
    """
    found, attributes = _read_arrays(path)
    name = name or path.stem
    if task is None and "env_id" in attributes:
        task = _task_or_none(str(attributes["env_id"]))
    if task is None:
        task = task_of_file(path.stem, _dims(found))
    if mode == "d4rl-exact":
        found = exact_rows(found, task.horizon if task else None)
    elif "timeouts" not in found and "terminals" in found and task and task.horizon:
        found["timeouts"] = limit_reached(_flags(found["terminals"]), task.horizon)
    return Fields.of(found, name=name, task=task)


def _dims(found: dict[str, np.ndarray]) -> tuple[int, int]:
    sizes = [found[k].shape[-1] if k in found else 0 for k in ("observations", "actions")]
    return sizes[0], sizes[1]


def _task_or_none(env_id: str) -> Task | None:
    try:
        return find_task(env_id)
    except ConfigError:  # The environment is not registered here; the data is good all the same.
        return Task(name=env_id, env_id=env_id)


def _read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    try:
        with h5py.File(path, "r") as file:
            # Only plain data of this very file: a link could name any file of this machine.
            names = [str(key) for key in file if key in KEYS]
            links = [file.get(name, getlink=True) for name in names]
            if not all(type(link) is h5py.HardLink for link in links):
                raise DataError(f"{path} links to other files, which is not allowed in a dataset.")
            items = {name: file[name] for name in names}
            datasets = {k: item for k, item in items.items() if isinstance(item, h5py.Dataset)}
            _refuse_unsafe(path, datasets)
            return {k: _read(d) for k, d in datasets.items()}, dict(file.attrs)
    except FileNotFoundError as error:
        raise DataError(f"There is no file {path}.") from error
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{path} is not a readable HDF5 file: {error}. If it was downloaded, delete it and "
            "download it again."
        ) from error


def _refuse_unsafe(path: Path, datasets: dict[str, h5py.Dataset]) -> None:
    for key, dataset in datasets.items():
        if dataset.external or dataset.is_virtual:
            raise DataError(f"`{key}` of {path} is stored in another file, which is not allowed.")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    size = sum((dataset.size or 0) * 4 for dataset in datasets.values())
    if size > memory:
        raise DataError(
            f"{path} holds {size / 1e9:,.0f} GB of numbers, more than the {memory / 1e9:,.0f} GB "
            "of memory here. Is it damaged? Else cut it into parts."
        )


def _read(dataset: h5py.Dataset) -> np.ndarray:
    """Read once, straight into the type we keep, so no second copy of the file is ever held."""
    if dataset.dtype.kind == "f" and dataset.dtype != np.float32:
        return dataset.astype(np.float32)[()]
    return dataset[()]


def _flags(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values)).astype(bool)


def limit_reached(terminals: np.ndarray, horizon: int, *, as_d4rl: bool = False) -> np.ndarray:
    """Mark rows at which an episode reached its time limit, for files without `timeouts`.

    `as_d4rl` repeats a slip of the old loader: after a terminal row its step counter goes on at 1
    instead of 0, so the next limit comes one row early.
    """
    index = np.arange(len(terminals))
    after_terminal = np.zeros(len(terminals), bool)
    after_terminal[1:] = terminals[:-1]
    start = np.maximum.accumulate(np.where(after_terminal, index, 0))
    step = index - start + (after_terminal[start] if as_d4rl else 0)
    return (step % horizon == horizon - 1) & (as_d4rl | ~terminals)


def exact_rows(found: dict[str, np.ndarray], horizon: int | None) -> dict[str, np.ndarray]:
    """Return what `d4rl.qlearning_dataset` made of a file, row for row.

    The last row is lost; the next observation is the next row's, even across a terminal; rows at
    a time limit are dropped. Good for reproducing old numbers, wrong for fitting a model.
    """
    terminals = _flags(found["terminals"])
    if "timeouts" in found:
        timeouts = _flags(found["timeouts"])
    elif horizon:
        timeouts = limit_reached(terminals, horizon, as_d4rl=True)
    else:
        raise DataError("d4rl-exact needs `timeouts` in the file or a task with a known horizon.")
    keep = ~timeouts[:-1]
    # An episode ends where it ended in the file, or just before a dropped row.
    before_dropped = np.append(timeouts[1:], False)
    ends = (terminals | before_dropped)[:-1][keep]
    return {
        "observations": found["observations"][:-1][keep],
        "actions": found["actions"][:-1][keep],
        "rewards": found["rewards"][:-1][keep],
        "next_observations": found["observations"][1:][keep],
        "terminals": terminals[:-1][keep],
        "episode_ends": np.append(np.flatnonzero(ends), keep.sum() - 1),
    }


def write_hdf5(dataset: Dataset, path: Path) -> None:
    """Write a dataset in D4RL's v2 layout, atomically; `read_hdf5` gives the same dataset back."""
    columns = {
        "observations": dataset.obs,
        "actions": dataset.action,
        "rewards": dataset.reward,
        "next_observations": dataset.next_obs,
        "terminals": dataset.terminated,
        "timeouts": dataset.truncated,
        "action_low": dataset.action_low,
        "action_high": dataset.action_high,
    }
    if not dataset.next_known.all():
        columns["next_known"] = dataset.next_known
    flagged = (dataset.terminated | dataset.truncated)[dataset.episode_ends]
    if not flagged[:-1].all():
        columns["episode_ends"] = dataset.episode_ends
    with atomic(path) as temporary, h5py.File(temporary, "w") as file:
        for key, values in columns.items():
            small = values.nbytes < 10_000
            packing = {} if small else {"compression": "gzip", "compression_opts": 1}
            file.create_dataset(key, data=values, **packing)
        if dataset.task:
            file.attrs["env_id"] = dataset.task.env_id
