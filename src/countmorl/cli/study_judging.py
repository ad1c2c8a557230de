"""`countmorl study judging RUN|FOLDER ...`: how good is judging without a simulator?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.cli.choose import found_runs
from countmorl.cli.output import print_json, print_table
from countmorl.extras import require
from countmorl.studies.judging_tables import COLUMNS


def judging(
    runs: Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN|FOLDER ...")],
    kept: bool = False,
    development: tuple[str, ...] = (),
    out: Path = Path("judging"),
    episodes: int = 20,
    discount: float | None = None,
    horizon: int | None = None,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Judge policies by their logs, then play them, and compare.

    Per log and over all logs, for each estimator and for the verdict: rank correlation with the
    truth, points that the first choice misses, how often it is worse than the log, how often the
    truth lies in the interval, how often a policy that is called better is worse. Beside them what
    people do without a judge: the last policy, the highest Q value, any policy.

    The truth is in the estimates' own unit: discounted return from the task's starts, by play, and
    in a grid world exact. What is done is kept in --out; the same command goes on where it stopped.

    Args:
        runs: Finished runs on data of tasks that can be simulated, or folders of them (sweeps).
        kept: Judge the policies of each run's last evaluations, too.
        development: Names of the data on which the rules were chosen; the others are held out, and
            both are summed up apart.
        out: Folder for what was found: policies.csv, tables.md, estimates.png, a record a policy.
        episodes: Episodes that the truth is the mean of.
        discount: Weight of the next step's value. Default: as countmorl judge has it.
        horizon: Add up plain rewards over so many steps instead.
        seed: Seed of all that is drawn.
        json: Print JSON.
    """
    from countmorl.studies.judging import StudyConfig, study
    from countmorl.studies.judging_figures import estimates_figure
    from countmorl.studies.judging_files import as_json, tables, write

    require("matplotlib")  # Better missed now than after the judging.
    fields = study(
        found_runs(runs),
        StudyConfig(episodes=episodes, discount=discount, horizon=horizon, seed=seed),
        out,
        kept_too=kept,
        development=development,
        say=lambda text: print(f"{text} ...", file=sys.stderr, flush=True),
    )
    written = [*write(fields, out), out / "estimates.png"]
    estimates_figure(fields, written[-1])
    if json:
        print_json(as_json(fields))
        return 0
    for name, some in tables(fields).items():
        print(name)
        print_table(COLUMNS, ([cell(mark) for cell in COLUMNS.values()] for mark in some))
        print()
    print("Regret: points that the first choice has less than the best; the log's are 0 gained.")
    print(f"Written: {', '.join(map(str, written))}")
    return 0
