"""`countmorl guard RUN`: a threshold below which a fall-back acts, chosen from the log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro

from countmorl.cli.output import RunFolder, print_json, print_table
from countmorl.errors import printable
from countmorl.extras import require
from countmorl.files import check_ending
from countmorl.guarding.choose import Chosen, GuardConfig, choose_guard
from countmorl.guarding.curve import Point
from countmorl.runs.folder import Run
from countmorl.runtime.guard import FOLDER, SETTINGS

Flat = tyro.conf.arg(name="")


def guard(
    run: RunFolder,
    config: Annotated[GuardConfig, Flat],
    data: str | None = None,
    quick: bool = False,
    simulate: bool = False,
    episodes: int = 10,
    seed: int = 0,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Choose below which count a fall-back acts in the policy's place, and say what that costs.

    Thresholds are quantiles of the counts of held-out pairs: a guard at 10 % would interrupt the
    log's own behaviour in 10 % of its steps. For each of them it is told how often it acts on the
    policy, and what the guarded policy is worth in the model; judging is asked about the one that
    is chosen. What was chosen is written into the run (guard/guard.json),
    and `countmorl.Guard.load(run).act(obs)` gives an action and why it is taken.

    docs/guarding.md has what guards did to policies that left their data.

    Args:
        run: The folder of a run with a policy.
        data: Where its data lie now, if they have moved.
        quick: Do not ask all the estimators of `countmorl judge`, which takes minutes.
        simulate: Play in the task's simulator too; nothing is chosen by it.
        episodes: Episodes of play at each threshold.
        seed: Seed of all that is drawn.
        out: Figure to write (.png).
        json: Print JSON.
    """
    if out:
        check_ending(out, (".png",))
        require("matplotlib")  # Better missed now than after the rollouts.
    found = choose_guard(
        Run.open(run),
        config,
        data=data,
        judged=not quick,
        simulate=simulate,
        episodes=episodes,
        seed=seed,
        say=lambda text: print(text, "...", file=sys.stderr, flush=True),
    )
    if out:
        from countmorl.guarding.figure import guard_figure

        guard_figure(found, str(run), out)
    if json:
        print_json(found.as_dict())
        return 0
    show(found)
    print(f"Written: {run / FOLDER / SETTINGS}")
    if out:
        print(f"Written: {out}")
    return 0


def show(found: Chosen) -> None:
    """Print the curve, then what was chosen."""
    played = any(point.played for point in found.points)
    columns = ["", "quantile", "threshold", "log's pairs", "at logged states", "imagined"]
    columns += ["value in the model", "95 % interval", "way unseen"]
    columns += ["simulated", "acted", "switches"] if played else []
    print("How often the guard acts (share of steps), and what is kept")
    print_table(columns, (_row(point, played) for point in found.points))
    for name, judgement in found.judgements.items():
        print(f"{name}: {printable(judgement.sentence)}")
    settings = found.guard.settings
    back = {"clone": "a clone of the log acts", "fixed": f"the action is {settings.fixed}"}
    back |= {"hold": "the last action is held", "abstain": "nobody acts"}
    print(
        f"Chosen: below {settings.threshold:.4g} logged pairs ({settings.counts}), "
        f"{back[settings.fall_back]}, for {settings.dwell} steps at least and until the policy's "
        f"action has been seen {settings.enough:.4g} times."
    )
    for note in found.notes:
        print(f"note: {printable(note)}.")


def _row(point: Point, played: bool) -> list[str]:
    low, high = point.interval or (None, None)
    cells = [
        point.name,
        _share(point.quantile),
        "-" if point.threshold is None else f"{point.threshold:.4g}",
        _share(point.held_out),
        _share(point.at_logged),
        _share(point.imagined),
        "-" if point.value is None else f"{point.value:.4g}",
        "-" if low is None else f"{low:.4g} to {high:.4g}",
        _share(point.way_cut),
    ]
    if not played:
        return cells
    if point.played is None:
        return [*cells, "-", "-", "-"]
    game = point.played
    earned = f"{game.returns:.4g}" if game.score is None else f"{game.score:.1f}"
    return [*cells, earned, f"{game.rate:.0%}", f"{game.switches:.1f}"]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.3g}%"
