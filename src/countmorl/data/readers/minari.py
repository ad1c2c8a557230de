"""Minari datasets, local or remote: the minari package fetches them, our own reader reads them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from stat import S_IFREG
from types import ModuleType
from typing import Any

import numpy as np

from countmorl.data.fields import Fields
from countmorl.data.foreign import kind_of
from countmorl.data.readers.episodes import read_episodes
from countmorl.data.readers.hdf5 import read_hdf5
from countmorl.envs.tasks import Task, task_of_env
from countmorl.errors import CountMorlError, DataError
from countmorl.extras import require
from countmorl.runs.options import DataOptions

PREFIX = "minari:"
FILE = "main_data.hdf5"


def read_minari(dataset_id: str, *, options: DataOptions | None = None) -> Fields:
    """Read a Minari dataset by its id, downloading it first where it is not on this machine.

    Its rows have one way to be read, so the options' `mode` changes nothing.
    """
    minari = require("minari")
    with _explained(dataset_id):
        folder = _folder(minari, dataset_id)
    if kind_of(folder / FILE) == S_IFREG:
        return read_hdf5(folder / FILE, name=PREFIX + dataset_id, options=options)
    with _explained(dataset_id):  # Minari's other format is read by the package alone.
        dataset = minari.load_dataset(dataset_id)
        return read_episodes(
            dataset.iterate_episodes(),
            name=PREFIX + dataset_id,
            task=_task(dataset),
            options=options,
            more=_space(dataset_id, dataset.action_space),
        )


@contextlib.contextmanager
def _explained(dataset_id: str) -> Iterator[None]:
    """Say in a sentence whatever the package raises; it promises no kinds of errors."""
    try:
        # Minari prints to standard output, where our JSON goes.
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    except CountMorlError:
        raise
    except Exception as error:
        raise DataError(
            f"Minari dataset '{dataset_id}' could not be loaded: {_first_line(error)} "
            "Is the id right (namespace/name-v0), and is there a network or a local copy?"
        ) from error


def _folder(minari: ModuleType, dataset_id: str) -> Path:
    """Where the data of a dataset lie, once they have been downloaded."""
    folder = Path(minari.storage.get_dataset_path(dataset_id)) / "data"
    if not folder.exists():
        minari.download_dataset(dataset_id)
    return folder


def _space(dataset_id: str, space: Any) -> dict[str, np.ndarray]:
    if hasattr(space, "low"):
        return {"action_low": space.low, "action_high": space.high}
    if getattr(space, "start", None) == 0:
        return {"action_count": np.array(space.n)}
    raise DataError(
        f"Minari dataset '{dataset_id}' has actions {space}; only vectors of numbers and "
        "discrete actions counted from 0 can be used."
    )


def _task(dataset: object) -> Task | None:
    spec = getattr(dataset, "env_spec", None)
    if spec is None:
        return None
    return task_of_env(spec.id, spec.max_episode_steps)


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__).rstrip(".") + "."
