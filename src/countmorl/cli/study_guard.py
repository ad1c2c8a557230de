"""`countmorl study guard RUN...`: do guards keep what their fall-back earns?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_table
from countmorl.guarding.curve import Point
from countmorl.runs.folder import Run
from countmorl.studies.guard import GuardStudy, Tried

Flat = tyro.conf.arg(name="")
Runs = Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN ...")]


def guard(
    runs: Runs,
    config: Annotated[GuardStudy, Flat],
    data: str | None = None,
    task: str | None = None,
    policies: tuple[Path, ...] = (),
    json: bool = False,
) -> int:
    """Play policies unguarded, guarded, and the fall-back alone.

    The policies are those of the runs, of other files, a clone spoilt by noise, and chance. With
    --data alone there are no codes: --counts neighbours.

    Args:
        runs: Folders of runs that learned from one log; one of them counts by codes.
        data: Where the log lies now, if it has moved; or, without runs, a log.
        task: Task or Gymnasium id to play; by default the data's.
        policies: Files of other policies of the same task.
        json: Print JSON.
    """
    from countmorl.studies.guard import guard_study

    found = guard_study(
        [Run.open(path) for path in runs],
        config,
        data=data,
        task=task,
        policies=policies,
        say=lambda text: print(text, "...", file=sys.stderr, flush=True),
    )
    if json:
        print_json([each.as_dict() for each in found])
        return 0
    show(found)
    return 0


def show(found: list[Tried]) -> None:
    """Print one table: what was earned, and the share of the steps at which the fall-back acted."""
    quantiles = [point.quantile for point in found[0].points if point.quantile is not None]
    print("Score (or return), and in brackets how often the fall-back acted")
    print_table(
        ("data", "counts", "policy", "unguarded", *(f"{q:.0%}" for q in quantiles), "fall-back"),
        (
            (each.data, each.counts, each.policy, *(_cell(point) for point in each.points))
            for each in found
        ),
    )


def _cell(point: Point) -> str:
    game = point.played
    assert game is not None, "a study plays"
    earned = f"{game.returns:.4g}" if game.score is None else f"{game.score:.1f}"
    return earned if point.name != "guarded" else f"{earned} ({game.rate:.0%})"
