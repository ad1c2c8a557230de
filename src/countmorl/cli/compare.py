"""`countmorl compare`: runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_table
from countmorl.errors import ConfigError, printable
from countmorl.files import check_ending
from countmorl.reports.compare import differing, draw_curves, labels, measure_of
from countmorl.runs.folder import Run
from countmorl.runs.summary import LAST, Summary, summarize

Runs = Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN")]


def compare(
    runs: Runs,
    figure: Path | None = None,
    last: int = LAST,
    json: bool = False,
) -> int:
    """Put runs side by side: the settings in which they differ, scores, values, penalties, speed.

    Args:
        runs: Folders of runs.
        figure: PNG file to draw their learning curves into.
        last: Evaluations, from the end, whose mean is the score.
        json: Print JSON, with every evaluation.
    """
    if not runs or last < 1:
        raise ConfigError("`compare` wants one or more run folders, and `--last` at least 1.")
    if figure:
        check_ending(figure, (".png",))
    opened = [Run.open(run) for run in runs]
    facts = [summarize(run, last) for run in opened]
    own, measure = differing(opened), measure_of(facts)
    drawn = str(draw_curves(facts, figure)) if figure else None
    if json:
        rows = [row.as_dict() | {"settings": each} for row, each in zip(facts, own, strict=True)]
        print_json({"runs": rows, "figure": drawn})
        return 0
    head = (
        "run",
        "epochs",
        f"{measure}, last {last}",
        "log",
        "q",
        "penalty",
        "rows/code",
        "count",
        "updates/s",
    )
    names = labels(facts)
    print_table(head, map(_row, names, facts))
    for name, row, settings in zip(names, facts, own, strict=True):
        told = ", ".join(f"{setting} {_said(value)}" for setting, value in settings.items())
        said = f"{name}: {row.algorithm} on {row.data}; {told or 'no setting differs'}"
        print(printable(said))
    if drawn:
        print(f"Figure: {drawn}")
    return 0


def _said(value: Any) -> str:
    return "-" if value is None else str(value)


def _row(name: str, facts: Summary) -> tuple[str, ...]:
    kept = "-" if facts.mean is None else f"{facts.mean:.1f}"
    if facts.spread is not None:
        kept += f" ± {facts.spread:.1f}"
    numbers = (
        (facts.q, ".1f"),
        (facts.penalty, ".3f"),
        (facts.rows_per_code, ".1f"),
        (facts.typical_count, ".1f"),
        (facts.updates_per_second, ".0f"),
    )
    shown = ("-" if value is None else f"{value:{form}}" for value, form in numbers)
    log = "-" if facts.log is None else f"{facts.log:.1f}"
    return (name, str(facts.epochs), kept, log, *shown)
