"""`countmorl auto DATA`: from a log to a policy that is shown to be better, or to none."""

from __future__ import annotations

import sys
from pathlib import Path

from countmorl.automatic.run import auto as find
from countmorl.cli.output import Data, print_json, print_table
from countmorl.errors import Interrupted, printable
from countmorl.runs.options import HOLDOUT, ActionKind, DataOptions, Done


def auto(
    data: Data,
    out: Path | None = None,
    budget: str = "30m",
    done: Done | None = None,
    actions: ActionKind | None = None,
    rows: int | None = None,
    holdout_episodes: float = HOLDOUT,
    workers: int | None = None,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Find a policy that is shown to be better than your log, or be told to keep what you have.

    The log is checked; a model is fitted once; a clone of the log, TD3+BC (CQL where actions are
    discrete) and Count-MORL are trained with a few settings, as many and as long as the budget
    allows; policies of several epochs of each are judged by the log alone, as `countmorl judge`
    does; the best is taken, or the clone handed out where none is shown to be better. No simulator
    is opened, also where one is known. Killed at any moment, the same command goes on.

    Args:
        data: A path to an HDF5 or NPZ file, a D4RL name, or minari:ID. Tables are imported first:
            countmorl data import.
        out: Folder for everything: policy.safetensors, report.html, result.json, the runs. By
            default auto/DATA-seedN.
        budget: How long all of it may take on this machine, such as 10m, 30m, 2h.
        done: What `done` means where the log does not tell: terminated, the task itself ended
            there; or ended, the episode ended there for whatever reason.
        actions: How actions are understood: discrete or continuous; by default from their type
            and values.
        rows: Keep only the first rows of the log.
        holdout_episodes: Share of the episodes that no training sees, to judge by.
        workers: Runs side by side, one core each; by default as many as there are cores.
        seed: Seed of everything random.
        json: Print the result as JSON; progress goes to standard error.
    """
    options = DataOptions(rows=rows, done=done, actions=actions, holdout_episodes=holdout_episodes)
    how = {"out": out, "budget": budget, "workers": workers, "seed": seed}
    try:
        result = find(data, data_options=options, **how)
    except Interrupted as stop:
        print(
            f"Stopped; nothing is lost in {stop.folder}. The same command goes on.", file=sys.stderr
        )
        return 130
    if json:
        print_json(result)
        return 0
    table = [
        (
            each["name"],
            each["verdict"],
            "-" if each["sure"] is None else f"{each['sure']:.4g}",
            f"{each['unseen']:.1%}",
        )
        for each in result["judged"]
    ]
    print_table(("policy", "verdict", "gain at least", "unseen"), table)
    for reason in result["choice"]["reasons"]:
        print(printable(reason))
    print(printable(result["choice"]["sentence"]))
    print(f"Policy: {result['choice']['policy']} ({result['choice']['handed_out']})")
    if result["choice"]["warning"]:
        print(printable(f"warning: {result['choice']['warning']}"))
    print(f"Page: {result['folder']}/report.html")
    return 0
