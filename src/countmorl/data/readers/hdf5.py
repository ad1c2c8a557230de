"""HDF5 files in D4RL's layout: read (v2, v0, d3rlpy's flat one and ours) and write."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from countmorl.data.aliases import KEYS, as_d4rl, dims_of, task_named
from countmorl.data.columns import as_flag
from countmorl.data.dataset import Dataset
from countmorl.data.ends import CUTS
from countmorl.data.fields import Fields
from countmorl.data.precision import Loss
from countmorl.data.readers.hdf5_files import (
    attributes,
    described,
    opened,
    read_array,
    read_ids,
    refuse_unsafe,
    tree,
)
from countmorl.data.readers.layouts import find_episodes
from countmorl.envs.tasks import Task, task_of_env, task_of_file
from countmorl.errors import DataError
from countmorl.files import atomic
from countmorl.runs.options import DataOptions

NEEDED = ("observations", "actions", "rewards", "terminals")
ABOUT = ("action_low", "action_high", "action_count", "schema")
"""Arrays that are not about rows."""
D3RLPY = ("discrete_action", "version", "create_mask", "mask_size")
"""What d3rlpy's flat files (version 1) hold about themselves."""


def read_hdf5(
    path: Path,
    *,
    name: str | None = None,
    task: Task | None = None,
    options: DataOptions | None = None,
) -> Fields:
    """Read a file in D4RL's layout; files of episodes, d3rlpy's and Minari's, are known too.

    Mode `true`: every row, stored next observations, terminal rows with their true next state,
    timeouts never terminal. `d4rl-exact`: the rows of the old `d4rl.qlearning_dataset`.
    """
    options, name = options or DataOptions(), name or path.stem
    with opened(path) as file:
        said = attributes(path, file, ["env_id"]) if task is None else {}
        episodes = find_episodes(path, file)
        found, lost, unused = ({}, (), ()) if episodes else file_arrays(path, file)
    if "env_id" in said:
        task = task_of_env(said["env_id"])
    if episodes:
        return episodes.fields(name=name, task=task, options=options)
    task = task or task_named(found) or task_of_file(path.stem, dims_of(found))
    if options.mode == "d4rl-exact":
        found = exact_rows(as_d4rl(found, name), task.horizon if task else None)
    elif task and task.horizon and not _cut(found):
        found |= _timeouts(as_d4rl(found, name), task.horizon)
    return Fields.of(found, name=name, task=task, options=options, unused=unused, lost=lost)


def _cut(found: dict[str, Any]) -> bool:
    """Whether a file tells itself where episodes were cut."""
    return bool({"truncated", *CUTS} & {KEYS.get(key) for key in found})


def _timeouts(found: dict[str, np.ndarray], horizon: int) -> dict[str, np.ndarray]:
    """Where the time limit was reached, in a file that tells only of falls."""
    if "terminals" not in found or "observations" not in found:
        return {}
    rows = _rows(found, ("observations",))
    return {"timeouts": limit_reached(_flags(found, "terminals", rows), horizon)}


def hdf5_arrays(
    path: Path, wanted: Container[str] = KEYS
) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """The arrays of a file that are wanted, and the names of all others."""
    with opened(path) as file:
        found, _, unused = file_arrays(path, file, wanted)
    return found, unused


def file_arrays(
    path: Path, file: h5py.File, wanted: Container[str] = KEYS
) -> tuple[dict[str, np.ndarray], tuple[Loss, ...], tuple[str, ...]]:
    """The arrays that are wanted, what the cast lost of them, and what else there is."""
    names = [str(key) for key in file]
    own = D3RLPY if "discrete_action" in names else ()
    items = tree(path, file, [key for key in names if key in wanted or key == "discrete_action"])
    datasets = {key: item for key, item in items.items() if not isinstance(item, dict)}
    refuse_unsafe(path, datasets)
    found, lost = {}, []
    for key, dataset in datasets.items():
        if KEYS.get(key) == "episode":
            found[key] = read_ids(path, dataset)
            continue
        found[key], losses = read_array(key, dataset)
        lost += losses
    found |= _d3rlpy_count(found)
    unused = [key for key in names if key not in found and key not in own]
    return found, tuple(lost), described(file, unused)


def _d3rlpy_count(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """d3rlpy says whether actions are discrete, and counts them by the highest."""
    discrete = found.pop("discrete_action", None)
    actions = found.get("actions")
    if discrete is None or not np.all(discrete) or actions is None or not actions.size:
        return {}
    if actions.dtype.kind not in "iuf" or not np.isfinite(actions.max()):
        return {}
    return {"action_count": np.array(max(2, int(actions.max()) + 1))}


def _rows(found: dict[str, np.ndarray], keys: tuple[str, ...]) -> int:
    """Rows of the observations, which are those of all these arrays."""
    for key in keys:
        if not found[key].ndim:
            raise DataError(f"`{key}` is one number; wanted one row for each step.")
    rows = len(found["observations"])
    for key in keys:
        if len(found[key]) != rows:
            raise DataError(f"`{key}` has {len(found[key])} rows but `observations` has {rows}.")
    return rows


def _flags(found: dict[str, np.ndarray], key: str, rows: int) -> np.ndarray:
    values = found[key]
    if values.ndim == 0 or values.size != rows:
        raise DataError(
            f"`{key}` has shape {list(values.shape)}, wanted one value for {rows} rows."
        )
    return as_flag(key, values.reshape(-1))


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
    likely = [key for key in found if KEYS.get(key) == "propensity"]
    rows = _rows(found, (*NEEDED[:3], *likely))
    if rows < 2:
        raise DataError("d4rl-exact drops the last row, and there is no other.")
    terminals = _flags(found, "terminals", rows)
    if "timeouts" in found:
        timeouts = _flags(found, "timeouts", rows)
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
        **{key: found[key] for key in found if KEYS.get(key) in ABOUT},
        **{key: found[key][:-1][keep] for key in likely},
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
    if dataset.propensity is not None:
        columns["propensity"] = dataset.propensity
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
            # Of a fixed length: other text lies in a part of the file that is not safe to read.
            file.attrs["env_id"] = np.bytes_(dataset.task.env_id.encode())
