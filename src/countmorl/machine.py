"""What this machine has: cores and memory, a container's limits included."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from countmorl.errors import CountMorlError

MEMINFO, CPUINFO = Path("/proc/meminfo"), Path("/proc/cpuinfo")
INSTRUCTIONS = re.compile(r"(sse4|ssse|avx|fma|f16c|amx|asimd|sve|bf16|i8mm).*")
"""Sets of instructions by which compiled programs and libraries choose how they calculate."""
OWN_GROUPS = Path("/proc/self/cgroup")
CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class _Container:
    """Where a kind of container keeps its limit, what of it is in use, and what is only cache."""

    controller: str
    """The controller's name in the list of a process's groups; its folder, too."""
    limit: str
    used: str
    cache: str
    """The line of memory.stat with pages of files, which are given up where memory is wanted."""


CONTAINERS = (
    _Container("", "memory.max", "memory.current", "inactive_file"),
    _Container("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def instructions() -> tuple[str, ...]:
    """Sets of instructions that change the last bits of sums, as the system names them."""
    try:
        flags = re.findall(r"^(?:flags|Features)\s*:(.*)$", CPUINFO.read_text(), re.MULTILINE)
    except OSError:
        flags = []
    found = sorted(set(flags[0].split())) if flags else []
    return (platform.machine(), *(each for each in found if INSTRUCTIONS.fullmatch(each)))


@contextmanager
def explained_memory() -> Iterator[None]:
    """Say in a sentence that memory is not enough, whoever noticed it: Python, NumPy or XLA."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, MemoryError) and not str(error).startswith("RESOURCE_EXHAUSTED"):
            raise
        there = available_memory()
        free = "" if there is None else f" ({there / 1e9:,.1f} GB are free)"
        raise CountMorlError(
            f"There is not enough memory for this{free}. Take fewer rows, a smaller batch or "
            "smaller networks, or close other programs."
        ) from error


def available_memory() -> int | None:
    """Bytes that may be taken without driving others out; None where nobody tells."""
    limits = [left for kind in CONTAINERS for left in _of_container(kind)]
    known = [each for each in (_of_machine(), _of_process(), *limits) if each is not None]
    return min(known) if known else None


def _of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError, IndexError):
        return None


def _of_process() -> int | None:
    """What `ulimit -v` leaves to this process."""
    try:
        import resource  # Not everywhere.

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError, ValueError, IndexError):
        return None
    taken = pages * resource.getpagesize()
    return None if limit == resource.RLIM_INFINITY else max(0, limit - taken)


def _of_container(kind: _Container) -> Iterator[int]:
    """What is left in this process's group, and in every group that holds it."""
    root = CGROUPS / kind.controller
    own = root / _own_group(kind.controller)
    for folder in (own, *own.parents):
        if not folder.is_relative_to(root):
            break
        try:
            limit = int((folder / kind.limit).read_text())
            used = int((folder / kind.used).read_text())
        except (OSError, ValueError):  # No such kind of container, or no limit: "max".
            continue
        yield max(0, limit - max(0, used - _cached(folder / "memory.stat", kind.cache)))


def _own_group(controller: str) -> str:
    """The path of this process's group; nothing where there is none."""
    try:
        lines = [line.split(":", 2) for line in OWN_GROUPS.read_text().splitlines()]
    except OSError:
        return ""
    paths = [line[2] for line in lines if len(line) == 3 and controller in line[1].split(",")]
    return paths[0].lstrip("/") if paths and ".." not in paths[0] else ""


def _cached(path: Path, name: str) -> int:
    try:
        lines = dict(line.split(" ", 1) for line in path.read_text().splitlines())
        return int(lines[name])
    except (OSError, KeyError, ValueError):
        return 0
