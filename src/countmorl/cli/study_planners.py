"""`countmorl study planners`: what a penalty on thin data is worth in grid worlds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import tyro

from countmorl.cli.output import print_json, print_table
from countmorl.envs.gridworld import WORLDS, find_world
from countmorl.errors import ConfigError
from countmorl.files import check_ending
from countmorl.studies.drawing import ENDINGS
from countmorl.studies.planners import Outcome, StudyConfig

Flat = tyro.conf.arg(name="")


def planners(
    config: Annotated[StudyConfig, Flat],
    worlds: tuple[str, ...] = tuple(WORLDS),
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Compare planners on little data, with and without a penalty.

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
    """One table per world: return and lava rate of each method, one row per size of the data."""
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
