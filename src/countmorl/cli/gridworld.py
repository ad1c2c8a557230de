"""The grid worlds: their data, maps, and the comparison of planners on them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from countmorl.cli.data import _writer, _wrote
from countmorl.cli.output import print_json, print_table
from countmorl.envs.gridworld import WORLDS, find_world
from countmorl.errors import ConfigError
from countmorl.files import check_ending
from countmorl.studies.drawing import ENDINGS
from countmorl.studies.planners import Outcome, StudyConfig

Flat = tyro.conf.arg(name="")
Name = Annotated[Positional[str], tyro.conf.arg(metavar="WORLD")]
Out = Annotated[Positional[Path], tyro.conf.arg(metavar="OUT")]


def gridworld_data(
    world: Name,
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

    found, writer = find_world(world), _writer(out)
    dataset = gridworld_dataset(found, replay(found, rows=rows, slip=slip, seed=seed))
    writer(dataset, out)
    return _wrote(dataset, out, json)


def gridworld_maps(
    world: Name,
    out: Path = Path("maps.png"),
    rows: int = 1000,
    slip: float = 0.2,
    seed: int = 0,
    beta: float = 0.1,
    json: bool = False,
) -> int:
    """Draw a grid world's counts, penalties, and the plans with and without them.

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


def gridworld_worlds(out: Path = Path("worlds.png"), json: bool = False) -> int:
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


def gridworld_study(
    config: Annotated[StudyConfig, Flat],
    worlds: tuple[str, ...] = tuple(WORLDS),
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Compare planners on little data: behaviour, plain, with a count penalty, with the theory's.

    Args:
        worlds: Worlds to compare in.
        out: Figure to write: return and lava rate over the size of the data.
        json: Print JSON.
    """
    from countmorl.studies.planners import study

    if out:
        check_ending(out, ENDINGS)
    if not worlds:
        raise ConfigError("`worlds` must name at least one grid world.")
    found = [find_world(name) for name in worlds]
    outcomes: list[Outcome] = []
    for world in found:
        print(f"{world.name} ...", file=sys.stderr, flush=True)
        outcomes += study(world, config)
    if out:
        from countmorl.studies.figures import study_figure

        study_figure(outcomes, out)
    if json:
        print_json([_record(outcome) for outcome in outcomes])
    else:
        _print_study(outcomes)
    return 0


def _record(outcome: Outcome) -> dict[str, Any]:
    return {
        "world": outcome.world,
        "method": outcome.method,
        "rows": outcome.rows,
        "return": float(outcome.returns.mean()),
        "return_std": float(outcome.returns.std()),
        "goal": float(outcome.goal.mean()),
        "lava": float(outcome.lava.mean()),
        "seeds": len(outcome.lava),
    }


def _print_study(outcomes: list[Outcome]) -> None:
    """One table a world: return and lava rate of each method, one row a size of the data."""
    optima = {outcome.world: outcome for outcome in outcomes if outcome.method == "optimum"}
    for world, optimum in optima.items():
        ours = [o for o in outcomes if o.world == world and o is not optimum]
        cells: dict[int, dict[str, str]] = {}
        for outcome in ours:
            cells.setdefault(outcome.rows, {})[outcome.method] = _cell(outcome)
        print(f"{world}: the true discounted optimum has {_cell(optimum).strip()}")
        methods = list(dict.fromkeys(outcome.method for outcome in ours))
        print_table(
            ("rows", *methods),
            ((f"{size:,}", *(row[name] for name in methods)) for size, row in cells.items()),
        )
        print()
    print("Mean return over seeds, and the share of episodes that end in lava.")


def _cell(outcome: Outcome) -> str:
    return f"{outcome.returns.mean():5.2f} {outcome.lava.mean():4.0%}"


COMMANDS: dict[str, Callable[..., int]] = {
    "gridworld-data": gridworld_data,
    "gridworld-maps": gridworld_maps,
    "gridworld-study": gridworld_study,
    "gridworld-worlds": gridworld_worlds,
}
