"""How many threads calculate: the bits of a training depend on it.

XLA and the library beneath NumPy size their pools once, when they start, by the environment. So a
run that began with other threads than this process would take can go on exactly, if the command
line looks at it before anything numeric is imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from countmorl.errors import RunError
from countmorl.json_files import parse_json
from countmorl.machine import cores

XLA = "NPROC"
BLAS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
"""What the library beneath NumPy sizes its pool by: evaluations calculate with it."""
RECORDED = ("threads", "threads of NumPy")
"""What a run's manifest calls the two pools."""


def of_xla() -> int:
    """Threads that XLA calculates with: the cores, unless NPROC says otherwise."""
    said = os.environ.get(XLA, "")
    return int(said) if said.isdigit() and int(said) else cores()


def of_numpy() -> str:
    """Threads that NumPy calculates with: the cores, unless the environment says otherwise."""
    return next((os.environ[name] for name in BLAS if os.environ.get(name)), str(cores()))


def settings(xla: str | int, numpy: str | int) -> dict[str, str]:
    """What the environment has to say for so many threads."""
    return {XLA: str(xla)} | dict.fromkeys(BLAS, str(numpy))


def how_to_take(recorded: Mapping[str, str]) -> str:
    """What to put before a command for the threads that a run began with."""
    xla, numpy = (recorded.get(name, "") for name in RECORDED)
    return " ".join(f"{name}={said}" for name, said in settings(xla, numpy).items() if said)


def take_those_of_a_run(words: Iterable[str]) -> None:
    """Take the threads that the run among a command's words began with, if that can still be done.

    Not where the user has said another number, nor more than there are cores: a file from
    elsewhere would decide how busy this machine is. Then `resume` says what differs.
    """
    if "numpy" in sys.modules or "--inexact" in words or any(map(os.environ.get, (XLA, *BLAS))):
        return
    found = (_recorded(Path(word) / "config.json") for word in words if word[:1] != "-")
    if said := next(filter(None, found), None):
        os.environ.update(settings(*said))


def _recorded(path: Path) -> tuple[int, int] | None:
    """Threads as a config.json has them; whatever else is wrong with it is told later."""

    def holds(values: Any) -> bool:
        return isinstance(values, dict) and isinstance(values.get("environment"), dict)

    try:
        there = path.is_file()
        said = parse_json(path, holds, "the config of a run")["environment"] if there else {}
    except (RunError, OSError, ValueError):  # The last one: no name of a file.
        return None
    found = [str(said.get(name, "")) for name in RECORDED]
    ours = [int(each) for each in found if each in map(str, range(1, cores() + 1))]
    return (ours[0], ours[1]) if len(ours) == 2 else None
