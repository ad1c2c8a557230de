"""Data of a plan: D4RL's names, folders of files that are named like them, files of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from stat import S_IFDIR

from countmorl.algorithms.presets import task_name
from countmorl.data.foreign import kind_of, user_path
from countmorl.data.names import D4RL, ENVS, KINDS_V0
from countmorl.data.readers import READERS
from countmorl.data.sources import is_named
from countmorl.errors import ConfigError, did_you_mean

TASKS = tuple(f"{env}-{kind}" for kind in KINDS_V0 for env in ENVS)
"""The paper's twelve, in the order of its tables."""
OTHERS = tuple(f"{env}-{kind}" for kind in ("expert", "full-replay") for env in ENVS)
"""Tasks that D4RL has too, so that their files are not taken for one of the twelve."""


def find_sources(
    data: Sequence[str | Path] | None, tasks: Sequence[str], *, version: str = "v2"
) -> list[str]:
    """The datasets of a plan: D4RL's own where `data` is None, else what is found there.

    A folder is searched for files named like D4RL's, one for each task; a file is taken as it is.
    """
    wanted = [find_known_task(task) for task in tasks] or list(TASKS)
    if data is None:
        return [f"{task}-{version}" for task in wanted]
    found: list[str] = []
    for each in data:
        path = user_path(each)
        if kind_of(path) == S_IFDIR:
            found += _in_folder(path, wanted, version)
        else:
            found.append(_file(str(each), path))
    return list(dict.fromkeys(found))


def find_known_task(name: str) -> str:
    """One of the twelve by its name, with D4RL's version behind it or not."""
    plain = name.lower().replace("_", "-").removesuffix("-v2").removesuffix("-v0")
    if plain not in TASKS:
        raise ConfigError(
            f"No task named '{name}'.{did_you_mean(plain, TASKS)} Known: {', '.join(TASKS)}."
        )
    return plain


def _in_folder(folder: Path, wanted: list[str], version: str) -> list[str]:
    by_task: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in READERS and path.is_file():
            if task := task_name(path.stem, [*TASKS, *OTHERS]):
                by_task.setdefault(task, []).append(path)
    missing = [task for task in wanted if task not in by_task]
    if missing:
        there = [task for task in wanted if task in by_task]
        advice = f" Or take what is there: --tasks {' '.join(there)}" if there else ""
        raise ConfigError(
            f"{folder} holds no file for {', '.join(missing)}. Wanted a name like D4RL's, such as "
            f"{missing[0].replace('-', '_')}-{version}.hdf5; found {_listed(folder)}.{advice}"
        )
    return [str(_one(by_task[task], task, version)) for task in wanted]


def _one(paths: list[Path], task: str, version: str) -> Path:
    """The file of a task; of several the one that names the version."""
    fitting = [path for path in paths if path.stem.endswith(f"-{version}")] or paths
    if len(fitting) > 1:
        names = ", ".join(path.name for path in fitting)
        raise ConfigError(f"Several files could be {task}: {names}. Name one of them in --data.")
    return fitting[0]


def _file(name: str, path: Path) -> str:
    if is_named(name):
        return name
    if not path.exists():
        hint = did_you_mean(name, D4RL)
        raise ConfigError(f"There is no file {name}, and no dataset of that name.{hint}")
    return name


def _listed(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir())
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "") if names else "nothing"
