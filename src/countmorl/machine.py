"""What this machine has: cores and memory, a container's limits included."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

MEMINFO, CPUINFO = Path("/proc/meminfo"), Path("/proc/cpuinfo")
INSTRUCTIONS = re.compile(r"(sse4|ssse|avx|fma|f16c|amx|asimd|sve|bf16|i8mm).*")
"""Sets of instructions by which compiled programs and libraries choose how they calculate."""
CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)
"""Where containers of both kinds keep their limit, and what of it is in use."""


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Threads that XLA calculates with: the cores, unless NPROC says otherwise."""
    said = os.environ.get("NPROC", "")
    return int(said) if said.isdigit() and int(said) else cores()


def instructions() -> tuple[str, ...]:
    """Sets of instructions that change the last bits of sums, as the system names them."""
    try:
        flags = re.findall(r"^(?:flags|Features)\s*:(.*)$", CPUINFO.read_text(), re.MULTILINE)
    except OSError:
        flags = []
    found = sorted(set(flags[0].split())) if flags else []
    return (platform.machine(), *(each for each in found if INSTRUCTIONS.fullmatch(each)))


def available_memory() -> int | None:
    """Bytes that new processes may take without driving others out; None where nobody tells."""
    known = [each for each in (_of_machine(), _of_container()) if each is not None]
    return min(known) if known else None


def _of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError, IndexError):
        return None


def _of_container() -> int | None:
    for limit, used in CGROUPS:
        try:
            return max(0, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # No such kind of container, or no limit: "max".
            continue
    return None
