"""`countmorl study steps RUN...`: how a model's error grows along a rollout."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_table
from countmorl.errors import ConfigError
from countmorl.extras import require
from countmorl.files import check_ending
from countmorl.studies.drawing import ENDINGS
from countmorl.studies.model_steps import Steps, StepsConfig

AT = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Steps that the table shows."""


def steps(
    runs: Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN")],
    config: Annotated[StepsConfig, tyro.conf.arg(name="")],
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Measure a model's error by the step of a rollout, cut or not.

    A clone of the log is rolled out in each run's model; every imagined pair is put to the
    simulator. Rollouts are cut where countmorl judge cuts them: at the first pair that no logged
    row is near to.

    Args:
        runs: Folders of runs with a model.
        out: Figure to write: errors and rollouts that are left, by step.
        json: Print JSON.
    """
    from countmorl.studies.model_steps import steps_figure, steps_of

    if not runs:
        raise ConfigError("Name at least one run with a model.")
    if out:
        check_ending(out, ENDINGS)
        require("matplotlib")
    found = [steps_of(run, config, say=partial(_say, run)) for run in runs]
    if out:
        steps_figure(found, out)
    if json:
        print_json([_record(each) for each in found])
        return 0
    shown = [at for at in AT if at <= config.horizon]
    for each in found:
        print(each.run)
        print_table(
            ("", *(f"step {at}" for at in shown)),
            (
                (name, *(form.format(numbers[at - 1]) for at in shown))
                for name, numbers, form in (
                    ("median error", each.error, "{:.3g}"),
                    ("the same, cut", each.cut_error, "{:.3g}"),
                    ("rollouts going", each.going, "{:.0%}"),
                    ("and not cut", each.uncut, "{:.0%}"),
                )
            ),
        )
    if out:
        print(f"Written: {out}")
    return 0


def _say(run: Path, text: str) -> None:
    print(f"{run.name}: {text} ...", file=sys.stderr, flush=True)


def _record(found: Steps) -> dict:
    listed = lambda values: [None if np.isnan(v) else float(v) for v in values]  # noqa: E731
    names = ("error", "cut_error", "going", "uncut")
    return {"run": found.run} | {name: listed(getattr(found, name)) for name in names}
