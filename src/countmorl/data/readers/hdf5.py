"""HDF5 files in D4RL's layout: read (v2, v0 and ours) and write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.fields import ALIASES, Fields, dims_of
from countmorl.envs.tasks import Task, task_of_env, task_of_file
from countmorl.errors import DataError
from countmorl.files import atomic
from countmorl.runs.options import Mode

NEEDED = ("observations", "actions", "rewards", "terminals")
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
        task = task_of_env(str(attributes["env_id"]))
    if task is None:
        task = task_of_file(path.stem, dims_of(found))
    if mode == "d4rl-exact":
        found = exact_rows(found, task.horizon if task else None)
    elif "timeouts" not in found and "terminals" in found and task and task.horizon:
        found["timeouts"] = limit_reached(_flags(found, "terminals"), task.horizon)
    return Fields.of(found, name=name, task=task)


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
        raise DataError(
            f"There is no file {path}. Check the path; `countmorl data list` shows what has a name."
        ) from error
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise DataError(
            f"{path} is not a readable HDF5 file: {error}. If it was downloaded, delete it and "
            "download it again."
        ) from error


def _refuse_unsafe(path: Path, datasets: dict[str, h5py.Dataset]) -> None:
    for key, dataset in datasets.items():
        if dataset.shape is None:
            raise DataError(f"`{key}` of {path} is empty.")
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
        return np.asarray(dataset.astype(np.float32)[()])
    return np.asarray(dataset[()])


def _flags(found: dict[str, np.ndarray], key: str) -> np.ndarray:
    values = found[key]
    if values.ndim == 0 or values.size != len(found["observations"]):
        rows = len(found["observations"])
        raise DataError(
            f"`{key}` has shape {list(values.shape)}, wanted one value for {rows} rows."
        )
    return values.reshape(-1).astype(bool)


def limit_reached(terminals: np.ndarray, horizon: int, *, as_d4rl: bool = False) -> np.ndarray:
    """Mark rows at which an episode reached its time limit, for files without `timeouts`.

    `as_d4rl` repeats a slip of the old loader: after a terminal row its step counter goes on at 1
    instead of 0, so the next limit comes one row early.
    """
    starts = np.concatenate([[0], np.flatnonzero(terminals[:-1]) + 1])
    lengths = np.diff(starts, append=len(terminals))
    first = _old_counters(lengths, horizon) if as_d4rl else np.zeros_like(starts)
    step = np.arange(len(terminals)) - np.repeat(starts - first, lengths)
    return (step % horizon == horizon - 1) & (as_d4rl | ~terminals)


def _old_counters(lengths: np.ndarray, horizon: int) -> np.ndarray:
    """What the old loader's step counter shows at the first row after each terminal.

    1 by its slip; but 0 where the terminal row was itself at the limit and so dropped.
    """
    counters = [0]
    for length in lengths[:-1].tolist():
        counters.append(0 if (counters[-1] + length) % horizon == 0 else 1)
    return np.array(counters)


def exact_rows(found: dict[str, np.ndarray], horizon: int | None) -> dict[str, np.ndarray]:
    """Return what `d4rl.qlearning_dataset` made of a file, row for row.

    The last row is lost; the next observation is the next row's, even across a terminal; rows at
    a time limit are dropped. Good for reproducing old numbers, wrong for fitting a model.
    """
    missing = [key for key in NEEDED if key not in found]
    if missing:
        raise DataError(f"d4rl-exact needs `{missing[0]}`, which the file does not have.")
    rows = len(found["observations"])
    for key in NEEDED[1:3]:
        if len(found[key]) != rows:
            raise DataError(f"`{key}` has {len(found[key])} rows but `observations` has {rows}.")
    terminals = _flags(found, "terminals")
    if "timeouts" in found:
        timeouts = _flags(found, "timeouts")
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
        **{key: value for key, value in found.items() if key.startswith(("action_", "schema"))},
    }


def write_hdf5(dataset: Dataset, path: Path) -> None:
    """Write a dataset in D4RL's v2 layout, atomically; `read_hdf5` gives the same dataset back."""
    stored = dataset.stored
    columns = {
        "observations": dataset.obs,
        "actions": stored["action"],
        "rewards": dataset.reward,
        "next_observations": dataset.next_obs,
        "terminals": dataset.terminated,
        "timeouts": dataset.truncated,
        **dataset.space.fields,
    }
    if not dataset.next_known.all():
        columns["next_known"] = dataset.next_known
    flagged = (dataset.terminated | dataset.truncated)[dataset.episode_ends]
    if not flagged[:-1].all():
        columns["episode_ends"] = dataset.episode_ends
    if "schema" in stored:
        columns["schema"] = stored["schema"]
    with atomic(path) as temporary, h5py.File(temporary, "w") as file:
        for key, values in columns.items():
            small = values.nbytes < 10_000
            packing = {} if small else {"compression": "gzip", "compression_opts": 1}
            file.create_dataset(key, data=values, **packing)
        if dataset.task:
            file.attrs["env_id"] = dataset.task.env_id
