"""`countmorl demo`: a whole job on data that needs no download."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from countmorl.algorithms.bc import BC
from countmorl.data.collect import collect
from countmorl.data.hdf5 import write_hdf5
from countmorl.data.sources import load
from countmorl.envs.tasks import find_task
from countmorl.errors import RunError
from countmorl.training.options import RunOptions
from countmorl.training.train import train

MARK = ".countmorl-demo"


def demo(out: Path) -> dict[str, Any]:
    """Collect, train, judge."""
    if out.exists() and not (out / MARK).exists():
        raise RunError(f"{out} exists and is not a demo's folder. Choose another with --out.")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / MARK).touch()
    dataset = collect(find_task("hopper"), rows=20_000, name="hopper-random")
    path = out / "hopper-random.hdf5"
    write_hdf5(dataset, path)
    run = train(BC(epochs=10), load(path), out=out / "bc", options=RunOptions(eval_every=10))
    return {
        "behaviour": dataset.card()["score"]["mean"],
        "bc": run.metrics()[-1]["score"],
        "run": str(run.path),
    }
