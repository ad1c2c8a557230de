"""Sweeps: runs per hour against plain trainings, and memory against what was foreseen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Result
from countmorl import BC, MOPO, CountMORL, RunOptions, Sweep
from countmorl.counting.base import CodesConfig
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.runs.folder import Run
from countmorl.sweeps.facts import look_at
from countmorl.sweeps.needs import memory_need
from countmorl.sweeps.run import sweep

ROWS, OBS, ACTION = 20_000, 11, 3
MODEL = EnsembleConfig(max_epochs=4, least_steps=100)
DREAM: dict[str, Any] = {"epochs": 8, "updates": 200, "branches": 4_000, "model": MODEL}
METHODS = {
    "count-morl": CountMORL(codes=CodesConfig(bits=16, fit_epochs=2, fit_updates=200), **DREAM),
    "mopo": MOPO(**DREAM),
    "bc": BC(epochs=8, updates=1000),
}
PLAIN = """
import sys
from benchmarks.sweeps import METHODS, OPTIONS
from countmorl import train
train(METHODS[sys.argv[1]], sys.argv[2], out=sys.argv[3], options=OPTIONS, quiet=True)
"""
OPTIONS = RunOptions(eval_every=0, save_every=4)


class Quiet:
    """Shows nothing."""

    def begin(self, finished: set[str]) -> None:
        """Nothing."""

    def tick(self, running: list[str]) -> None:
        """Nothing."""

    def ended(self, row: Any, outcome: Any) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing."""


def write_log(path: Path, seed: int) -> Path:
    """Steps of a linear system under random actions."""
    rng = np.random.default_rng(seed)
    obs = rng.standard_normal((ROWS, OBS)).astype(np.float32)
    action = rng.uniform(-1, 1, (ROWS, ACTION)).astype(np.float32)
    push = action @ rng.standard_normal((ACTION, OBS)).astype(np.float32)
    np.savez(
        path,
        obs=obs,
        action=action,
        reward=-(obs**2).sum(axis=1),
        next_obs=0.9 * obs + 0.1 * push,
        truncated=np.arange(ROWS) % 100 == 99,
    )
    return path


def plan(folder: Path) -> Sweep:
    """Three methods, two datasets, two seeds: twelve runs, and four models and codes for them."""
    logs = [write_log(folder / f"{name}.npz", seed) for seed, name in enumerate("ab")]
    return Sweep.of(METHODS, logs, seeds=2, options=OPTIONS)


@contextmanager
def within(folder: Path) -> Iterator[None]:
    """Work in a folder, so that equal sweeps name equal places."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def timed_sweep(folder: Path, workers: int) -> float:
    """Seconds of the whole plan."""
    table, start = plan(folder), time.perf_counter()
    assert sweep(table, folder / f"sweep-{workers}", workers=workers, watcher=Quiet()).complete
    return time.perf_counter() - start


def plain(folder: Path) -> float:
    """Seconds of the same twelve runs by `countmorl train`, one after the other: three times four.

    Each is a process of its own with all cores, and fits its own model.
    """
    start = time.perf_counter()
    for name in METHODS:
        words = [
            sys.executable,
            "-c",
            PLAIN,
            name,
            str(folder / "a.npz"),
            str(folder / f"p-{name}"),
        ]
        subprocess.run(words, check=True)
    return 4 * (time.perf_counter() - start)


def largest_share(folder: Path) -> float:
    """The most that a run took of the memory that was foreseen for it."""
    table = plan(folder)
    facts = look_at(table, fetch=False)
    return max(
        max(t.peak_memory or 0.0 for t in Run.open(folder / "sweep-2" / row.name).timings())
        / memory_need(row.config, facts[row.data, row.data_options])
        for row in table.rows
    )


def many_runs(folder: Path, like: Path) -> Path:
    """A hundred finished runs of 100 epochs: ten methods, five datasets, two seeds."""
    manifest = Run.open(like).manifest
    assert manifest.data is not None
    for number in range(100):
        method, data, seed = number % 10, number // 10 % 5, number // 50
        path = folder / f"run-{number}"
        (path / "stages").mkdir(parents=True)
        origin = replace(manifest.data, name=f"hopper-{data}", hash=f"{data:064}")
        options = replace(manifest.options, seed=seed, label=f"method {method}")
        replace(manifest, data=origin, options=options).write(path / "config.json")
        (path / "stages" / "policy.safetensors").touch()
        at = {"stage": "policy"}
        metrics = [
            at
            | {"epoch": n, "q": 1.0, "rollout_unseen": [0.1] * 5}
            | ({"return": 1.0, "score": method + n / 10 + seed} if n % 5 == 0 else {})
            for n in range(1, 101)
        ]
        timing = [
            at | {"epoch": n, "seconds": 1.0, "updates_per_second": 9.0} for n in range(1, 101)
        ]
        for name, lines in (("metrics.jsonl", metrics), ("timing.jsonl", timing)):
            (path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def report_seconds(folder: Path) -> float:
    """Seconds of the command that makes the page of a hundred runs."""
    many = many_runs(folder / "many", folder / "sweep-2" / "bc-a-seed0")
    program = "import sys; from countmorl.cli import main; sys.exit(main())"
    words = ["-c", program, "report", str(many), "-o", str(folder / "report.html")]
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def run() -> list[Result]:
    """Time twelve small runs in three ways."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        two, one = timed_sweep(folder, 2), timed_sweep(folder, 1)
        alone = plain(folder)
        share, page = largest_share(folder), report_seconds(folder)
    return [
        Result(
            name=f"sweep of 12 runs, one worker: {3600 * 12 / one:.0f} runs an hour",
            seconds=one,
            ratio=alone / one,
            ratio_to="the runs an hour of plain trainings",
        ),
        Result(
            name=f"sweep of 12 runs, two workers: {3600 * 12 / two:.0f} runs an hour",
            seconds=two,
            ratio=alone / two,
            ratio_to="the runs an hour of plain trainings",
        ),
        Result(
            name="sweep of 12 runs: two workers' time",
            seconds=two,
            ratio=two / one,
            ratio_to="one worker's",
            limit=0.6,
        ),
        Result(
            name="sweep of 12 runs: peak memory of a run",
            seconds=0.0,
            ratio=share,
            ratio_to="what was foreseen for it",
            limit=1.0,
        ),
        Result(
            name="report of 100 runs of 100 epochs, as a page",
            seconds=page,
            ratio=page / 10,
            ratio_to="10 s",
            limit=1.0,
        ),
    ]
