import os

import pytest

from countmorl import machine
from countmorl.machine import available_memory, cores


def test_cores_are_those_that_this_process_may_use():
    assert cores() >= 1
    if hasattr(os, "sched_getaffinity"):
        assert cores() == len(os.sched_getaffinity(0))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A machine of 8 GiB free in a container with 3 of 4 GB left."""
    meminfo, limit, used = (tmp_path / name for name in ("meminfo", "max", "current"))
    meminfo.write_text("MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n")
    limit.write_text("4000000000\n")
    used.write_text("1000000000\n")
    monkeypatch.setattr(machine, "MEMINFO", meminfo)
    monkeypatch.setattr(machine, "CGROUPS", ((str(limit), str(used)),))
    return meminfo, limit, used


def test_a_containers_limit_counts_where_it_is_lower(files):
    assert available_memory() == 3_000_000_000
    files[1].write_text("max\n")
    assert available_memory() == 8 * 2**30
    files[1].write_text("9" * 18)  # What the older kind of container says where there is no limit.
    assert available_memory() == 8 * 2**30


def test_more_in_use_than_allowed_leaves_nothing(files):
    files[2].write_text("5000000000")
    assert available_memory() == 0


def test_where_nobody_tells_nothing_is_known(files, tmp_path, monkeypatch):
    for path in files:
        path.unlink()
    assert available_memory() is None
    files[0].write_text("nonsense\n")
    assert available_memory() is None
