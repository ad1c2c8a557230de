"""Importing a table of ten million rows against Polars alone reading the same columns.

python -m benchmarks.importing --rows 1000000: a smaller table, for a quick look; nothing is kept.
Both are whole processes, so that with few rows the ratio is that of their starts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import Result, show

ROWS, LABS, LENGTH = 10_000_000, 16, 200
"""Rows of the table, its columns of observations, and rows of an episode."""
GIGABYTE = 1e9
SLOWER, LARGER = 3.0, 2.0
"""What an import may take: times Polars' seconds, gigabytes at its peak."""
KEYS = ("patient", "hour")
OPTIONS = (
    *("--episode", KEYS[0], "--time", KEYS[1], "--obs", "lab_*"),
    *("--action", "dose", "--reward", "outcome"),
)
OURS = "import sys; from countmorl.cli import main; sys.exit(main())"
"""The command `countmorl`, by the Python that runs this."""
ALONE = """
import sys
import polars as pl
scan = pl.scan_csv if sys.argv[1].endswith(".csv") else pl.scan_parquet
table = scan(sys.argv[1])
table = table.sort(sys.argv[2:]) if sys.argv[2:] else table
table.collect(engine="streaming")
"""
WATCH = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
seconds = time.perf_counter() - start
unit = 1 if sys.platform == "darwin" else 1024
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
print(json.dumps({"seconds": seconds, "peak": peak}))
sys.exit(done.returncode)
"""
"""Runs a command and tells its time and peak memory. A process of its own, since a child begins
with the peak of the process that started it, and this one may have held a whole table."""


def make_table(rows: int) -> pl.DataFrame:
    """Twenty columns: an id, a time, slowly changing numbers, an action and a reward."""
    rng, row = np.random.default_rng(0), np.arange(rows)
    columns: dict[str, np.ndarray] = {"patient": row // LENGTH, "hour": row % LENGTH}
    for lab in range(LABS):
        walk = np.cumsum(rng.standard_normal(rows, np.float32) * np.float32(0.1), dtype=np.float64)
        columns[f"lab_{lab:02d}"] = (walk * 10.0 ** (lab % 4 - 1)).round(4)
    columns["dose"] = rng.uniform(-1, 1, rows).round(4)
    columns["outcome"] = rng.standard_normal(rows).round(4)
    return pl.DataFrame(columns)


def write_tables(folder: Path, rows: int) -> dict[str, Path]:
    """The same table as text and packed, and once more with its rows in no order."""
    kinds = {"CSV": "log.csv", "Parquet": "log.parquet", "Parquet, shuffled": "shuffled.parquet"}
    paths = {kind: folder / name for kind, name in kinds.items()}
    table = make_table(rows)
    table.write_csv(paths["CSV"])
    table.write_parquet(paths["Parquet"])
    table.sample(fraction=1, shuffle=True, seed=0).write_parquet(paths["Parquet, shuffled"])
    return paths


def watched(command: Sequence[str]) -> dict[str, float]:
    """Seconds and peak memory of a command, from its start to its end."""
    return json.loads(subprocess.check_output([sys.executable, "-c", WATCH, *command]))


def read_alone(path: Path, *keys: str) -> dict[str, float]:
    """Polars reading a table, and sorting it where keys are named."""
    return watched([sys.executable, "-c", ALONE, str(path), *keys])


def import_table(path: Path) -> dict[str, float]:
    out = path.with_suffix(".hdf5")
    out.unlink(missing_ok=True)
    words = ("data", "import", str(path), "--out", str(out), *OPTIONS)
    return watched([sys.executable, "-c", OURS, *words])


def in_turns(*works: Callable[[], dict[str, float]], repeat: int = 3) -> list[dict[str, float]]:
    """The shortest time and the highest peak of each; in turns, so that all are disturbed alike."""
    runs = [[work() for work in works] for _ in range(repeat)]
    return [
        {
            "seconds": min(run["seconds"] for run in each),
            "peak": max(run["peak"] for run in each),
        }
        for each in zip(*runs, strict=True)
    ]


def compare(kind: str, path: Path, rows: int) -> list[Result]:
    """Time and memory of one import; the limit is of Polars doing the same, sorting included."""
    yardsticks = {"reading the columns with Polars": partial(read_alone, path)}
    if "shuffled" in kind:
        sorting = {"reading and sorting them with Polars": partial(read_alone, path, *KEYS)}
        yardsticks = sorting | yardsticks
    ours, *others = in_turns(partial(import_table, path), *yardsticks.values())
    name = f"import {rows:,} rows x {LABS + 4} columns ({kind})"
    timed = [
        Result(
            name=name if place == 0 else f"{name}, to reading alone",
            seconds=ours["seconds"],
            ratio=ours["seconds"] / other["seconds"],
            ratio_to=ratio_to,
            limit=SLOWER if place == 0 else None,
        )
        for place, (ratio_to, other) in enumerate(zip(yardsticks, others, strict=True))
    ]
    memory = Result(
        name=f"{name}: peak memory",
        seconds=0.0,
        ratio=ours["peak"] / GIGABYTE,
        ratio_to=f"1 GB (Polars: {others[0]['peak'] / GIGABYTE:.2f})",
        limit=LARGER,
    )
    return [*timed, memory]


def run(rows: int = ROWS) -> list[Result]:
    """Time and memory of `countmorl data import`, for each kind of file."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_tables(Path(folder), rows)
        return [result for kind, path in paths.items() for result in compare(kind, path, rows)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    show(run(parser.parse_args().rows))
