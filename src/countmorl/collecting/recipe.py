"""Datasets by D4RL's recipe: random, medium, medium-replay, expert, medium-expert."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from countmorl.collecting.collect import collect
from countmorl.collecting.online import OnlineConfig, OnlineFit
from countmorl.configs import to_json
from countmorl.data.dataset import Dataset
from countmorl.data.joining import concatenate
from countmorl.data.readers.hdf5 import write_hdf5
from countmorl.envs.tasks import Task
from countmorl.errors import ConfigError
from countmorl.runs.folder import CONFIG, Run
from countmorl.runs.manifest import Manifest
from countmorl.runs.options import RunOptions
from countmorl.runtime.policy import Policy
from countmorl.training.stages import Stages

RecipeName = Literal["random", "medium", "medium-replay", "expert", "medium-expert"]
DEFAULTS = {"medium": 0.4, "expert": 1.0}


def threshold(task: Task, share: float | None, level: str) -> float:
    """Turn a share of the reference range (0.4 is 40 points) into a return.

    A task without references takes `share` as the return itself.
    """
    if task.reference is None:
        if share is None:
            raise ConfigError(
                f"{task.name} has no reference scores, so say which return to reach: --until, and "
                "--until-expert where the recipe needs an expert."
            )
        return share
    low, high = task.reference
    return low + (DEFAULTS[level] if share is None else share) * (high - low)


def make_recipe(
    task: Task,
    recipe: RecipeName,
    out: Path,
    *,
    rows: int,
    seed: int,
    goals: dict[str, float | None],
    max_epochs: int = 1000,
    quiet: bool = False,
) -> Path:
    """Train the behaviour the recipe needs in the run folder `out`, and write its dataset there.

    `goals` holds `until` and `until_expert`, as `threshold` takes them. The same call goes on with
    an interrupted one. Behaviour policies are kept beside the data.
    """
    name = f"{task.name.replace('/', '-').lower()}-{recipe}"
    path = out / f"{name}.hdf5"
    settings = RecipeSettings(env_id=task.env_id, recipe=recipe, rows=rows, **goals)
    run = _open_or_create(out, settings, seed)
    if path.exists():
        return path
    stages = Stages(run, seed, save_every=10, quiet=quiet)

    def trained(level: str, share: float | None) -> tuple[Policy, Dataset]:
        config = OnlineConfig(until=threshold(task, share, level), max_epochs=max_epochs)
        stage = OnlineFit(task, config, seed, name=f"online-{level}")
        state = stages.do(stage)
        policy = stage.policy(state)
        policy.save(out / f"{level}-policy.safetensors")
        return policy, stage.replay(state, name)

    def rolled(policy: Policy | None, count: int, offset: int = 0) -> Dataset:
        return collect(task, policy, rows=count, seed=seed + offset, name=name)

    with run.lock():
        if recipe == "random":
            dataset = rolled(None, rows)
        elif recipe == "medium-replay":
            dataset = trained("medium", goals["until"])[1]
        elif recipe == "medium":
            dataset = rolled(trained("medium", goals["until"])[0], rows)
        elif recipe == "expert":
            dataset = rolled(trained("expert", goals["until_expert"])[0], rows)
        else:
            medium = rolled(trained("medium", goals["until"])[0], rows // 2)
            expert = rolled(trained("expert", goals["until_expert"])[0], rows - rows // 2, offset=1)
            dataset = concatenate({"medium": medium, "expert": expert}, name)
        write_hdf5(dataset, path)
        run.save_result("data", {"rows": np.array(len(dataset))})
    return path


@dataclass(frozen=True, kw_only=True)
class RecipeSettings:
    """Everything that data by a recipe depend on."""

    env_id: str
    recipe: RecipeName
    rows: int
    until: float | None
    until_expert: float | None


def _open_or_create(out: Path, settings: RecipeSettings, seed: int) -> Run:
    wanted, options = to_json(settings), RunOptions(seed=seed)
    if not (out / CONFIG).exists():
        return Run.create(out, Manifest(algorithm="recipe", config=wanted, options=options))
    run = Run.open(out)
    manifest = run.manifest
    if (manifest.config, manifest.options.seed) != (wanted, seed):
        raise ConfigError(
            f"{out} holds other data ({manifest.algorithm}: {manifest.config}). Choose another "
            "folder, or repeat the same command to go on with it."
        )
    return run
