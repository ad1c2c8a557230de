"""Loading a file of a million rows against reading its arrays with h5py alone."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

from benchmarks.measure import Result, alternate
from countmorl import load

ROWS = 1_000_000
KEYS = ("observations", "actions", "rewards", "next_observations", "terminals", "timeouts")
PEAK = """
import json, sys
from countmorl import load
def peak():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines["VmHWM"].split()[0]) * 1024
before = peak()
dataset = load(sys.argv[1])
size = sum(array.nbytes for array in dataset.arrays.values())
print(json.dumps({"peak": peak() - before, "size": size}))
"""


def write_file(path: Path, packed: bool) -> None:
    """A file of Hopper's sizes: smooth noise, an episode every 500 steps."""
    rng = np.random.default_rng(0)
    obs = np.cumsum(rng.standard_normal((ROWS, 11), np.float32) * 0.01, axis=0)
    packing = {"compression": "gzip"} if packed else {}
    ends = np.arange(ROWS) % 500 == 499
    values = {
        "observations": obs,
        "next_observations": np.concatenate([obs[1:], obs[-1:]]),
        "actions": rng.uniform(-1, 1, (ROWS, 3)).astype(np.float32),
        "rewards": rng.standard_normal(ROWS).astype(np.float32),
        "terminals": ends & (np.arange(ROWS) % 1000 < 500),
        "timeouts": ends & (np.arange(ROWS) % 1000 >= 500),
    }
    with h5py.File(path, "w") as file:
        for key, value in values.items():
            file.create_dataset(key, data=value, **packing)


def read_alone(path: Path) -> None:
    with h5py.File(path, "r") as file:
        for key in KEYS:
            file[key][()]  # type: ignore[index]


def run() -> list[Result]:
    """Time and memory, for a file as D4RL packs it (gzip) and for a plain one."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, packed in (("gzip", True), ("plain", False)):
            path = Path(folder) / f"hopper_{kind}.hdf5"
            write_file(path, packed)
            ours, alone = alternate(lambda: load(path), lambda: read_alone(path))  # noqa: B023
            results.append(
                Result(
                    name=f"load 1,000,000 rows ({kind})",
                    seconds=ours,
                    ratio=ours / alone,
                    ratio_to="reading the arrays with h5py",
                    limit=3.0,
                )
            )
        peak = json.loads(subprocess.check_output([sys.executable, "-c", PEAK, str(path)]))
        results.append(
            Result(
                name="load 1,000,000 rows: peak memory",
                seconds=0.0,
                ratio=peak["peak"] / peak["size"],
                ratio_to=f"the arrays' {peak['size'] / 1e6:.0f} MB",
                limit=2.5,
            )
        )
    return results
