"""A short timing of methods on this machine: `python -m countmorl.sweeps.trials`.

Each method trains for seconds on made-up data of its sizes, in a process with one thread, as
workers have. The first that has a model does so again with more rollouts, which tells what an
imagined step costs in all of them. The trials come as JSON on standard input, the costs go as JSON
to standard output.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from countmorl import api
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.configs import dotted_names, to_json, with_values
from countmorl.envs.simulators import make_env
from countmorl.errors import RunError
from countmorl.runs.folder import Run
from countmorl.runs.options import RunOptions
from countmorl.sweeps.facts import DataFacts
from countmorl.sweeps.rows import Row, short_hash
from countmorl.sweeps.worker import environment

ROWS, UPDATES, STEPS = 2_000, 40, 500
BRANCHES = (32, 1024)
"""Rollouts of the two trainings whose difference tells what an imagined step costs."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Seconds of one core."""

    update: float
    """Of one update of the policy."""
    imagined: float = 0.0
    """Of one imagined step."""
    model_step: float = 0.0
    """Of one gradient step of the ensemble."""
    codes_update: float = 0.0
    """Of one update of the encoders."""
    start: float = 0.0
    """Of compiling, once a run."""


class Clock:
    """Times methods one after the other, and measures nothing twice."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.imagined: float | None = None
        self.models: dict[str, tuple[Path, float]] = {}
        """Fitted models, with what a step of each cost, by settings and sizes."""

    def __call__(self, number: int, row: Row, facts: DataFacts) -> Cost:
        """Train a row's method for moments, and read how long its parts took."""
        log, config, out = made_up(facts), row.config, self.folder / str(number)
        if not isinstance(config, AbstractModelBased):
            run = _train(shrunk(config, BRANCHES[0]), log, out, None)
            return Cost(update=_epoch_seconds(run) / UPDATES, start=_compiling(run))
        key = short_hash([to_json(config.model), asdict(facts)])
        before, step = self.models.get(key, (None, 0.0))
        run = _train(shrunk(config, BRANCHES[0]), log, out, before)
        if before is None:
            step = _per_update(run, "model")
            self.models[key] = (run.path, step)
        few = _epoch_seconds(run)
        if self.imagined is None:
            more = _train(shrunk(config, BRANCHES[1]), log, self.folder / "more", run.path)
            steps = (BRANCHES[1] - BRANCHES[0]) * config.horizon
            self.imagined = max(0.0, _epoch_seconds(more) - few) / steps
        return Cost(
            update=max(0.0, few - self.imagined * BRANCHES[0] * config.horizon) / UPDATES,
            imagined=self.imagined,
            model_step=step,
            codes_update=_per_update(run, "codes"),
            start=_compiling(run),
        )


def shrunk(config: AbstractAlgorithm, branches: int) -> AbstractAlgorithm:
    """The same method, so short that it takes seconds; what one step costs stays."""
    wanted: dict[str, Any] = {
        "epochs": 2,
        "updates": UPDATES,
        "branches": branches,
        "retain": 1,
        "clone_epochs": 0,
        "first_epochs": 1,
        "termination": "never",
        "reward_function": None,
        "model.max_epochs": 2,
        "model.least_steps": UPDATES,
        "codes.fit_epochs": 2,
        "codes.fit_updates": UPDATES,
    }
    if getattr(getattr(config, "codes", None), "bits", None) == "auto":
        wanted["codes.bits"] = 24
    if adversary := getattr(config, "adversary", None):
        wanted["adversary.steps"] = max(1, round(adversary.steps * UPDATES / config.updates))
    has = dotted_names(config)
    return with_values(config, {name: value for name, value in wanted.items() if name in has})


def made_up(facts: DataFacts) -> dict[str, np.ndarray]:
    """Steps of a dataset's sizes that follow some rule."""
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((ROWS, facts.obs_dim)).astype(np.float32)
    if facts.discrete:
        action: np.ndarray = np.arange(ROWS) % facts.action_dim
    else:
        action = rng.uniform(-1, 1, (ROWS, facts.action_dim)).astype(np.float32)
    return {
        "obs": obs,
        "action": action,
        "reward": obs[:, 0],
        "next_obs": 0.9 * obs,
        "truncated": np.arange(ROWS) % 100 == 99,
    }


def _train(
    config: AbstractAlgorithm, log: Mapping[str, np.ndarray], out: Path, model: Path | None
) -> Run:
    options = RunOptions(eval_every=0, keep_policies=0, save_every=9)
    return api.train(config, log, out=out, options=options, model=model, quiet=True)


def _compiling(run: Run) -> float:
    return sum(timing.compile_seconds for timing in run.timings())


def _epoch_seconds(run: Run) -> float:
    """Seconds of the policy's last epoch, compiling left out."""
    timing = run.timings("policy")[-1]
    return max(0.0, timing.seconds - timing.compile_seconds)


def _per_update(run: Run, stage: str) -> float:
    speeds = [t.updates_per_second for t in run.timings() if t.stage.split("-")[0] == stage]
    return 1 / speeds[-1] if speeds and speeds[-1] else 0.0


def step_seconds(env_id: str) -> float:
    """Seconds of one step in an environment, by idle actions."""
    env = make_env(env_id)
    try:
        env.reset(seed=0)
        idle = np.zeros_like(env.action_space.sample())
        start = time.perf_counter()
        for _ in range(STEPS):
            _, _, ended, cut, _ = env.step(idle)
            if ended or cut:
                env.reset()
        return (time.perf_counter() - start) / STEPS
    finally:
        env.close()


def measure_apart(
    rows: Sequence[tuple[Row, DataFacts]], envs: Sequence[str]
) -> tuple[list[Cost], dict[str, float]]:
    """Do all of this in a process with one thread."""
    job = {"trials": [[row.as_dict(), asdict(facts)] for row, facts in rows], "envs": list(envs)}
    done = subprocess.run(
        [sys.executable, "-m", "countmorl.sweeps.trials"],
        input=json.dumps(job).encode(),
        stdout=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError) as error:
        raise RunError("The methods could not be timed; what went wrong stands above.") from error
    return [Cost(**cost) for cost in found["costs"]], found["envs"]


def main() -> int:
    """Measure what standard input asks for."""
    sys.path.append("")  # Methods of one's own are found as the sweep has found them.
    job = json.loads(sys.stdin.buffer.read())
    costs = []
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock(Path(folder))
        for number, (values, sizes) in enumerate(job["trials"], 1):
            row, facts = Row.from_dict(values), DataFacts(**sizes)
            said = f"timing {row.algorithm} ({number} of {len(job['trials'])})"
            print(said, file=sys.stderr, flush=True)
            costs.append(asdict(clock(number, row, facts)))
    envs = {env_id: step_seconds(env_id) for env_id in job["envs"]}
    print(json.dumps({"costs": costs, "envs": envs}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
