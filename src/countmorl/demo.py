"""`countmorl demo`: Count-MORL on data that ships with the package, against the data and BC."""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from countmorl.algorithms.bc import BC
from countmorl.algorithms.count_morl import CountMORL
from countmorl.api import train
from countmorl.data.dataset import Dataset
from countmorl.data.sources import load
from countmorl.errors import RunError
from countmorl.evaluation.simulate import evaluate
from countmorl.extras import require
from countmorl.reports.figures import draw_all
from countmorl.runs.folder import Run
from countmorl.runs.options import RunOptions
from countmorl.runtime.policy import Policy

MARK = ".countmorl-demo"
EPISODES = 20


def demo_data() -> Dataset:
    """The log that ships with the package: an online SAC's whole training on Pendulum-v1."""
    name = "pendulum-medium-replay.hdf5"
    with as_file(files("countmorl").joinpath("demo_data", name)) as path:
        return load(path)


def demo_config() -> CountMORL:
    """Count-MORL, sized for a few minutes on two cores."""
    base = CountMORL()
    return replace(
        base,
        epochs=12,
        branches=5_000,
        model=replace(base.model, max_epochs=6),
        codes=replace(base.codes, fit_epochs=2, verified=None),
        # The paper's rules: in a model of 6 epochs, where all rewards are below 0, ends in the
        # unknown lost what these learn (lab/verified.md).
        join="counts",
        unseen="pay",
        real_share=0.05,
        imitate=0.0,
        # Pendulum's episodes have 200 steps.
        sac=replace(base.sac, discount=0.99, entropy_rate=3e-4, polyak=0.005),
    )


def demo(out: Path) -> dict[str, Any]:
    """Clone the behaviour, run Count-MORL, judge both in the simulator."""
    for package in ("gymnasium", "matplotlib"):
        require(package)
    if out.exists() and not (out / MARK).exists():
        raise RunError(f"{out} exists and is not a demo's folder. Choose another with --out.")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / MARK).touch()
    dataset = demo_data()
    behaviour = dataset.card()["return"]["mean"]
    clone = train(BC(epochs=10), dataset, out=out / "bc", options=RunOptions(eval_every=0))
    run = train(demo_config(), dataset, out=out / "count-morl", options=RunOptions(eval_every=5))
    return {
        "behaviour": behaviour,
        "bc": _judge(clone, dataset),
        "count_morl": _judge(run, dataset),
        "run": str(run.path),
        "figures": [str(path) for path in draw_all(run, behaviour)],
    }


def _judge(run: Run, dataset: Dataset) -> float:
    assert dataset.task is not None
    policy = Policy.load(run.path)
    return evaluate(policy, dataset.task, episodes=EPISODES, seed=123).value
