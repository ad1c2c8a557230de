"""Minari datasets, local or remote, through the minari package."""

from __future__ import annotations

import contextlib
import io

import numpy as np

from countmorl.data.fields import Fields
from countmorl.envs.tasks import Task, task_of_env
from countmorl.errors import DataError
from countmorl.extras import require
from countmorl.runs.options import Mode

PREFIX = "minari:"


def read_minari(dataset_id: str, *, mode: Mode = "true") -> Fields:
    """Read a Minari dataset by its id, downloading it first where it is not on this machine.

    It has one way to be read, so `mode` changes nothing.
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
    parts = [_episode(episode, dataset_id) for episode in dataset.iterate_episodes()]
    if not parts:
        raise DataError(f"Minari dataset '{dataset_id}' has no episodes.")
    found = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    space = dataset.action_space
    if hasattr(space, "low"):
        found |= {"action_low": space.low, "action_high": space.high}
    elif getattr(space, "start", None) == 0:
        found["action_count"] = np.array(space.n)  # type: ignore[attr-defined]
    else:
        raise DataError(
            f"Minari dataset '{dataset_id}' has actions {space}; only vectors of numbers and "
            "discrete actions counted from 0 can be used."
        )
    found["episode_ends"] = np.cumsum([len(part["rewards"]) for part in parts]) - 1
    return Fields.of(found, name=PREFIX + dataset_id, task=_task(dataset))


def _episode(episode: object, dataset_id: str) -> dict[str, np.ndarray]:
    obs, actions = episode.observations, episode.actions  # type: ignore[attr-defined]
    if not isinstance(obs, np.ndarray) or not isinstance(actions, np.ndarray):
        raise DataError(
            f"Minari dataset '{dataset_id}' has structured observations or actions; "
            "only flat arrays can be used."
        )
    return {
        "observations": obs[:-1],
        "next_observations": obs[1:],
        "actions": actions,
        "rewards": episode.rewards,  # type: ignore[attr-defined]
        "terminations": episode.terminations,  # type: ignore[attr-defined]
        "truncations": episode.truncations,  # type: ignore[attr-defined]
    }


def _task(dataset: object) -> Task | None:
    spec = getattr(dataset, "env_spec", None)
    if spec is None:
        return None
    return task_of_env(spec.id, spec.max_episode_steps)


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__).rstrip(".") + "."
