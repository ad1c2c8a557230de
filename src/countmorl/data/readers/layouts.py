"""Episodes in HDF5, as d3rlpy (version 2) and Minari store them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_IFREG
from typing import Any

import h5py
import numpy as np

from countmorl.data.aliases import KEYS
from countmorl.data.fields import Fields
from countmorl.data.foreign import kind_of
from countmorl.data.readers.episodes import STEP, read_episodes
from countmorl.data.readers.hdf5_files import (
    Tree,
    attributes,
    described,
    member,
    refuse_unsafe,
    tree,
    values_of,
)
from countmorl.envs.tasks import Task, task_of_env
from countmorl.errors import DataError
from countmorl.runs.options import DataOptions
from countmorl.spaces import MOST_ACTIONS

MINARI = re.compile(r"episode_(\d+)")
D3RLPY = re.compile(r"(observations|actions|rewards|terminated)_(\d+)")
D3RLPY_OWN = ("columns", "num_episodes", "total_size", "version")
"""What d3rlpy writes about its own file."""
MOST_TEXT = 1_000_000


@dataclass(frozen=True, eq=False)
class Episodes:
    """What a file of episodes holds: their arrays, what is not used, what is said of all."""

    parts: list[Tree]
    unused: tuple[str, ...]
    about: dict[str, Any]

    def fields(self, *, name: str, task: Task | None, options: DataOptions) -> Fields:
        """Join the episodes; a task that is given counts more than the file's own."""
        task = task or _task(self.about)
        more = _space(self.about.get("action_space"))
        fields = read_episodes(self.parts, name=name, task=task, options=options, more=more)
        return replace(fields, unused=(*fields.unused, *self.unused))


def find_episodes(path: Path, file: h5py.File) -> Episodes | None:
    """Read a file that holds episode after episode; None where it holds flat arrays."""
    names = [str(key) for key in file]
    if any(KEYS.get(key) == "obs" for key in names):
        return None
    if any(MINARI.fullmatch(key) for key in names):
        return Episodes(*_minari(path, file, names), _about(path, file))
    if any(D3RLPY.fullmatch(key) for key in names):
        return Episodes(*_d3rlpy(path, file, names), {})
    return None


def _minari(path: Path, file: h5py.File, names: list[str]) -> tuple[list[Tree], tuple[str, ...]]:
    """Groups episode_0, episode_1, ... with observations (one more than steps), actions, ..."""
    matches = {key: match for key in names if (match := MINARI.fullmatch(key))}
    ordered = sorted(matches, key=lambda key: int(matches[key][1]))
    trees, beside, seen = [], dict[str, None](), set[int]()
    for key in ordered:
        group = member(path, file, key)
        if not isinstance(group, h5py.Group):
            raise DataError(f"`{key}` of {path} is an array; wanted a group with an episode.")
        held = [str(name) for name in group]
        trees.append(tree(path, group, [name for name in held if KEYS.get(name) in STEP], seen))
        beside |= dict.fromkeys(f"episode_*/{name}" for name in held if KEYS.get(name) not in STEP)
    refuse_unsafe(path, dict(zip(ordered, trees, strict=True)))
    others = described(file, [key for key in names if key not in matches])
    return [values_of(each) for each in trees], (*beside, *others)


def _d3rlpy(path: Path, file: h5py.File, names: list[str]) -> tuple[list[Tree], tuple[str, ...]]:
    """Arrays observations_0, actions_0, rewards_0 and a flag terminated_0 for each episode."""
    episodes: dict[int, dict[str, str]] = {}
    unused = dict[str, None]()
    for key in names:
        if match := D3RLPY.fullmatch(key):
            episode = episodes.setdefault(int(match[2]), {})
            if match[1] in episode:
                raise DataError(f"{path} holds both `{episode[match[1]]}` and `{key}`; give one.")
            episode[match[1]] = key
        elif re.fullmatch(r"observations_\d+_\d+", key):
            raise DataError(
                f"{path} holds several arrays of observations for each step (`{key}`); give one, "
                "its columns side by side."
            )
        elif key not in D3RLPY_OWN:
            unused[re.sub(r"_\d+$", "_*", key)] = None
    found = {}
    for number in sorted(episodes):
        members = tree(path, file, episodes[number].values())
        found[str(number)] = {own: members[key] for own, key in episodes[number].items()}
    refuse_unsafe(path, found)
    return [values_of(each) for each in found.values()], tuple(unused)


def _about(path: Path, file: h5py.File) -> dict[str, Any]:
    """What Minari says of the data, in the file itself or beside it."""
    own = attributes(path, file, ("env_spec", "action_space"))
    beside = path.with_name("metadata.json")
    if "env_spec" not in own and kind_of(beside) == S_IFREG and beside.stat().st_size < MOST_TEXT:
        found = _json(beside.read_text(encoding="utf-8", errors="replace"))
        return found if isinstance(found, dict) else {}
    return own


def _json(text: Any) -> Any:
    """What a text of JSON says; None where it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def _task(about: dict[str, Any]) -> Task | None:
    spec = _json(about.get("env_spec"))
    if not isinstance(spec, dict) or not isinstance(spec.get("id"), str):
        return None
    steps = spec.get("max_episode_steps")
    return task_of_env(spec["id"], steps if isinstance(steps, int) else None)


def _space(stored: Any) -> dict[str, np.ndarray]:
    """Bounds or number of the actions, where Minari tells."""
    space = _json(stored) if isinstance(stored, str) else stored
    if not isinstance(space, dict):
        return {}
    kind, count = space.get("type"), space.get("n")
    if kind == "Discrete" and isinstance(count, int) and not space.get("start"):
        return {"action_count": np.array(min(count, MOST_ACTIONS + 1))}
    if kind not in (None, "Box", "Dict", "Tuple"):
        raise DataError(
            f"The actions are of the kind {str(kind)[:40]}; only vectors of numbers and discrete "
            "actions counted from 0 can be used."
        )
    try:
        low, high = (np.asarray(space[key], np.float32) for key in ("low", "high"))
    except (KeyError, TypeError, ValueError, OverflowError):
        return {}
    return {"action_low": low, "action_high": high}
