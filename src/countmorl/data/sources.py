"""`load`: one function for every way to name a dataset."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from stat import S_IFDIR
from typing import Any

from countmorl.data.dataset import Dataset
from countmorl.data.download import download
from countmorl.data.fields import Fields
from countmorl.data.foreign import kind_of, user_path
from countmorl.data.names import D4RL
from countmorl.data.readers import PREFIXES, READERS
from countmorl.data.readers.episodes import read_episodes
from countmorl.data.readers.hdf5 import read_hdf5
from countmorl.data.readers.mapping import read_mapping
from countmorl.envs.tasks import Task, find_task
from countmorl.errors import DataError, did_you_mean, printable
from countmorl.runs.options import ActionKind, DataOptions, Done, Mode

Source = str | Path | Mapping[str, Any] | Sequence[Any] | Dataset
TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".arrow", ".feather", ".ipc")
"""Endings of tables, which are imported first."""
SHOWN = 12


def load(
    source: Source,
    *,
    task: str | None = None,
    mode: Mode = "true",
    rows: int | None = None,
    done: Done | None = None,
    actions: ActionKind | None = None,
    options: DataOptions | None = None,
) -> Dataset:
    """Load a dataset and check it.

    `source` is a D4RL name (`hopper-medium-v2`, downloaded once), a Minari id
    (`minari:mujoco/hopper/medium-v0`), a path to an HDF5 or NPZ file, a mapping of arrays, or a
    list of episodes. `task` overrides what the dataset is judged on, `rows` keeps only the first
    rows, `done` and `actions` say what the log itself does not; `options` hold all of these at
    once.
    """
    options = options or DataOptions(task=task, mode=mode, rows=rows, done=done, actions=actions)
    wanted = find_task(options.task) if options.task else None
    if isinstance(source, Dataset):
        dataset = source
    else:
        fields = read(source, options=options)
        dataset = Dataset.of(replace(fields, task=wanted) if wanted else fields)
        if not is_named(source):  # Of D4RL's and Minari's own side information everybody knows.
            _say_unused(dataset)
    if wanted:
        dataset = dataset.with_task(wanted)
    return dataset if options.rows is None else dataset.first(options.rows)


def _say_unused(dataset: Dataset) -> None:
    if dataset.unused:
        said = f"'{dataset.name}': {unused_sentence(dataset.unused)}"
        print(printable(said), file=sys.stderr, flush=True)


def read(source: Source, *, options: DataOptions | None = None) -> Fields:
    """Read a source without checking its values, as `countmorl data check` needs it."""
    options = options or DataOptions()
    if isinstance(source, Mapping):
        if "steps" in source:
            return read_episodes([source], options=options)
        return read_mapping(source, options=options)
    if not isinstance(source, (str, Path)):
        return read_episodes(_episodes(source), options=options)
    text = str(source)
    if text in D4RL:
        known = D4RL[text]
        path = known.path if known.path.exists() else download(known)
        return read_hdf5(path, name=text, task=known.task, options=options)
    for prefix, reader in PREFIXES.items():
        if text.startswith(prefix):
            return reader(text.removeprefix(prefix), options=options)
    return _read_file(user_path(text), text, options)


def _episodes(source: Any) -> Sequence[Any]:
    """A list of episodes; anything else is refused without printing what may be a huge table."""
    if hasattr(source, "columns"):
        raise DataError(
            "A table is read by the names of its columns: "
            'countmorl.from_table(frame, obs=["..."], action=["..."], reward="...").'
        )
    if isinstance(source, Sequence) and not isinstance(source, (str, bytes)):
        return source
    raise DataError(
        f"Cannot load an object of type {type(source).__name__}. Wanted a name, the path of a "
        "file, a dictionary of arrays, a list of episodes, or a Dataset."
    )


def _read_file(path: Path, text: str, options: DataOptions) -> Fields:
    kind, ending = kind_of(path), path.suffix.lower()
    if kind == S_IFDIR:
        raise DataError(f"{path} is a folder. Give a file ({', '.join(READERS)}) or a name.")
    if ending in READERS:
        return READERS[ending](path, options=options)
    if kind is not None:
        table = " Tables are imported first: countmorl data import." if ending in TABLES else ""
        raise DataError(
            f"{path} has the ending '{path.suffix}', which is not known. "
            f"Known: {', '.join(READERS)}.{table}"
        )
    raise _unknown(text)


def _unknown(name: str) -> DataError:
    hint = did_you_mean(name, D4RL)
    return DataError(f"No dataset named '{name}'.{hint} `countmorl data list` shows all.")


def is_named(source: object) -> bool:
    """Whether a source is a name of D4RL's or Minari's, rather than a file or arrays."""
    text = str(source) if isinstance(source, (str, Path)) else ""
    return text in D4RL or text.startswith(tuple(PREFIXES))


def unused_sentence(unused: tuple[str, ...]) -> str:
    """Name what is in a source and is not used."""
    shown = ", ".join(unused[:SHOWN]) + (", ..." if len(unused) > SHOWN else "")
    return f"not used: {shown}. `countmorl data info` shows what was understood."


def locate(source: str) -> str:
    """Return the source as it can be found again from another folder."""
    if is_named(source):
        return source
    return str(user_path(source).resolve())


def describe_task(task: Task | None) -> str:
    """Say in a few words what a dataset is judged on."""
    return f"{task.name} ({task.env_id})" if task else "none known; policies are not simulated"
