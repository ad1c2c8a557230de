"""Minari datasets, local or remote, through the minari package."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np

from countmorl.data.fields import Fields
from countmorl.data.readers.episodes import read_episodes
from countmorl.envs.tasks import Task, task_of_env
from countmorl.errors import DataError
from countmorl.extras import require
from countmorl.runs.options import DataOptions

PREFIX = "minari:"


def read_minari(dataset_id: str, *, options: DataOptions | None = None) -> Fields:
    """Read a Minari dataset by its id, downloading it first where it is not on this machine.

    Its rows have one way to be read, so the options' `mode` changes nothing.
    """
    minari = require("minari")
    try:
        # Minari prints to standard output, where our JSON goes.
        with contextlib.redirect_stdout(io.StringIO()):
            dataset = minari.load_dataset(dataset_id, download=True)
    except Exception as error:
        raise DataError(
            f"Minari dataset '{dataset_id}' could not be loaded: {_first_line(error)} "
            "Is the id right (namespace/name-v0), and is there a network or a local copy?"
        ) from error
    return read_episodes(
        dataset.iterate_episodes(),
        name=PREFIX + dataset_id,
        task=_task(dataset),
        options=options,
        more=_space(dataset_id, dataset.action_space),
    )


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
