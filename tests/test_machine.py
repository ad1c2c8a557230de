import os
import subprocess
import sys

import pytest

from countmorl import machine
from countmorl.errors import CountMorlError
from countmorl.machine import available_memory, cores, explained_memory


def test_cores_are_those_that_this_process_may_use():
    assert cores() >= 1
    if hasattr(os, "sched_getaffinity"):
        assert cores() == len(os.sched_getaffinity(0))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A machine of 8 GiB free in a container with 3 of 4 GB left."""
    names = ("meminfo", "group/job/memory.max", "group/job/memory.current", "own")
    meminfo, limit, used, own = (tmp_path / name for name in names)
    limit.parent.mkdir(parents=True)
    meminfo.write_text("MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n")
    limit.write_text("4000000000\n")
    used.write_text("1000000000\n")
    own.write_text("4:memory:/elsewhere\n0::/job\n")
    monkeypatch.setattr(machine, "MEMINFO", meminfo)
    monkeypatch.setattr(machine, "CGROUPS", tmp_path / "group")
    monkeypatch.setattr(machine, "OWN_GROUPS", own)
    monkeypatch.setattr(machine, "_of_process", lambda: None)
    return meminfo, limit, used


def test_a_containers_limit_counts_where_it_is_lower(files):
    assert available_memory() == 3_000_000_000
    files[1].write_text("max\n")
    assert available_memory() == 8 * 2**30
    files[1].write_text("9" * 18)
    assert available_memory() == 8 * 2**30


def test_a_container_around_the_container_counts_too(files):
    above = files[1].parents[1]
    (above / "memory.max").write_text("2000000000")
    (above / "memory.current").write_text("1500000000")
    assert available_memory() == 500_000_000


def test_pages_of_files_are_given_up_where_memory_is_wanted(files):
    (files[1].parent / "memory.stat").write_text("anon 1\ninactive_file 700000000\n")
    assert available_memory() == 3_700_000_000


def test_the_older_kind_of_container(files):
    files[1].unlink()
    folder = files[1].parents[1] / "memory" / "elsewhere"
    folder.mkdir(parents=True)
    (folder / "memory.limit_in_bytes").write_text("9" * 18)  # What it says where there is none.
    (folder / "memory.usage_in_bytes").write_text("1000")
    assert available_memory() == 8 * 2**30
    (folder / "memory.limit_in_bytes").write_text("2000")
    assert available_memory() == 1000


def test_a_limit_of_the_process_counts(files, monkeypatch):
    monkeypatch.setattr(machine, "_of_process", lambda: 12_345)
    assert available_memory() == 12_345


def test_what_ulimit_leaves():
    program = (
        "import resource; from countmorl.machine import _of_process as left; "
        "print(left()); resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32)); print(left())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    none, some = done.stdout.split()
    assert none == "None"
    assert 0 < int(some) < 1 << 32


def test_more_in_use_than_allowed_leaves_nothing(files):
    files[2].write_text("5000000000")
    assert available_memory() == 0


def test_where_nobody_tells_nothing_is_known(files):
    for path in files:
        path.unlink()
    assert available_memory() is None
    files[0].write_text("nonsense\n")
    assert available_memory() is None


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 5 bytes.")]
)
def test_too_little_memory_is_a_sentence(files, error):
    with pytest.raises(CountMorlError, match=r"not enough memory for this \(3.0 GB are free\)"):
        with explained_memory():
            raise error


def test_other_errors_pass():
    with pytest.raises(RuntimeError, match="else"), explained_memory():
        raise RuntimeError("something else")
