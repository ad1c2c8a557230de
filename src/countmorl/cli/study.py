"""`countmorl study ...`: grid worlds and theorems."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.cli.data import Out, writer_of, wrote
from countmorl.cli.output import print_json
from countmorl.cli.study_alarms import alarms
from countmorl.cli.study_audit import audit
from countmorl.cli.study_counts import counts
from countmorl.cli.study_guard import guard
from countmorl.cli.study_judging import judging
from countmorl.cli.study_planners import planners
from countmorl.cli.study_steps import steps
from countmorl.cli.study_theory import theory
from countmorl.envs.gridworld import WORLDS, find_world
from countmorl.files import check_ending
from countmorl.studies.drawing import ENDINGS
from countmorl.studies.planners import StudyConfig

World = Annotated[Positional[str], tyro.conf.arg(metavar="WORLD")]


def log(
    world: World,
    out: Out,
    rows: int | None = None,
    slip: float = 0.0,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Write the log of a Q-learner in a grid world as a dataset.

    Args:
        world: empty, bridge, cliff or zigzag.
        out: File to write (.hdf5 or .npz).
        rows: Steps to record; default: the paper's number for this world.
        slip: Probability that a random action is executed.
        seed: Seed of the learner.
        json: Print JSON.
    """
    from countmorl.collecting.qlearning import gridworld_dataset, replay

    found, writer = find_world(world), writer_of(out)
    dataset = gridworld_dataset(found, replay(found, rows=rows, slip=slip, seed=seed))
    writer(dataset, out)
    return wrote(dataset, out, json)


def maps(
    world: World,
    out: Path = Path("maps.png"),
    rows: int = 1000,
    slip: float = 0.2,
    seed: int = 0,
    beta: float = 0.1,
    json: bool = False,
) -> int:
    """Draw a grid world's counts, and plans with and without a penalty.

    Args:
        world: empty, bridge, cliff or zigzag.
        out: Figure to write.
        rows: Rows kept of the Q-learner's log.
        slip: Probability that a random action is executed.
        seed: Seed of the learner and of the rows that are kept.
        beta: Weight of the penalty.
        json: Print JSON.
    """
    from countmorl.collecting.qlearning import replay
    from countmorl.studies.figures import maps_figure
    from countmorl.studies.planners import PLANNERS, thinned
    from countmorl.tabular.conservative import count_penalty
    from countmorl.tabular.mdp import TabularMDP

    check_ending(out, ENDINGS)
    found = find_world(world)
    config = StudyConfig(slip=slip, beta=beta)
    data = thinned(found, replay(found, slip=slip, seed=seed), rows, seed)
    plans = {name: PLANNERS[name](data, config) for name in ("plain", "penalty")}
    truth = TabularMDP.of_world(found, slip=slip, gamma=config.gamma)
    maps_figure(found, truth, data.counts, count_penalty(data.counts, beta=beta), plans, out)
    return _drew(out, json)


def worlds(out: Path = Path("worlds.png"), json: bool = False) -> int:
    """Draw the four grid worlds.

    Args:
        out: Figure to write.
        json: Print JSON.
    """
    from countmorl.studies.figures import worlds_figure

    worlds_figure(list(WORLDS.values()), out)
    return _drew(out, json)


def _drew(out: Path, json: bool) -> int:
    if json:
        print_json({"path": str(out)})
    else:
        print(f"Written: {out}")
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "alarms": alarms,
    "audit": audit,
    "counts": counts,
    "guard": guard,
    "judging": judging,
    "log": log,
    "maps": maps,
    "planners": planners,
    "steps": steps,
    "worlds": worlds,
    "theory": theory,
}
