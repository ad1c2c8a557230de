"""How results are printed: tables for people, JSON for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table
from rich.text import Text
from tyro.conf import Positional

from countmorl.errors import Interrupted, printable
from countmorl.runs.folder import Run
from countmorl.runs.summary import Summary, summarize

Data = Annotated[Positional[str], tyro.conf.arg(metavar="DATA")]
RunFolder = Annotated[Positional[Path], tyro.conf.arg(metavar="RUN")]


def print_json(value: Any) -> None:
    """Print one JSON document on one line."""
    print(json.dumps(value), flush=True)


def print_pairs(pairs: Mapping[str, Any]) -> None:
    """Print a list of names and values."""
    width = max(map(len, pairs))
    for name, value in pairs.items():
        print(f"{name:<{width}}  {printable(str(value))}")


def print_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a plain table."""
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # Not as rich's own markup.
    # Where nobody looks at a terminal, rich assumes 80 columns and would cut names off.
    Console(width=None if sys.stdout.isatty() else 240).print(table)


def points(mean: float | None, spread: float | None = None) -> str:
    """Write a score with its spread, or say that there is none."""
    if mean is None:
        return "no reference known"
    return f"{mean:.1f}" if spread is None else f"{mean:.1f} ± {spread:.1f}"


def finish(work: Callable[[], Run], json: bool) -> int:
    """Do the work of a training, then say how it ended and where it lies."""
    try:
        run = work()
    except Interrupted as stop:
        print(f"{stop} Go on with: countmorl resume {stop.folder}", file=sys.stderr)
        return 130
    summary = summarize(run)
    if json:
        print_json(summary.as_dict())
        return 0
    if summary.epochs:
        print(_judged(run, summary))
        print(_beside_log(run, summary))
    if summary.updates_per_second:
        speed = f"{summary.updates_per_second:.0f} updates/s"
        print(f"{speed} of the policy; {summary.compile_seconds:.0f} s of compiling in all.")
    print(f"Run: {run.path}")
    if run.policy_path.exists():
        print(f"Policy: {run.policy_path}")
    return 0


def _beside_log(run: Run, summary: Summary) -> str:
    """What the policy is worth beside its log: a worse one must not look fine."""
    last, log, mean = summary.last, summary.log, summary.mean
    if last is None or log is None or mean is None:
        return (
            "Whether it is better than its log is not known yet, and on narrow logs policies often "
            f"end below it. Ask: countmorl judge {run.path}"
        )
    if mean < log:
        return (
            f"warning: below the log itself, which has {points(log)} (mean of the last "
            f"evaluations: {points(mean)}). Keep what you have."
        )
    return f"The log itself has {points(log)}."


def _judged(run: Run, summary: Summary) -> str:
    last = summary.last
    if last and last.score is not None:
        return f"Last score {points(last.score, last.score_std)} (normalised)."
    if last and last.return_ is None:
        return f"Last judged value {last.value:.4g}."
    if last:
        return f"Last return {points(last.return_, last.return_std)}."
    if run.manifest.options.eval_every:
        return "Not simulated: no environment is known for this dataset (--task names one)."
    return "Not simulated, since --eval-every is 0."


def propensity_row(found: dict[str, float] | None) -> dict[str, str]:
    """How likely logged actions were, where the log says so."""
    if found is None:
        return {}
    low, high = found["low"], found["high"]
    return {"propensity": f"logged: {found['median']:.3g} (from {low:.3g} to {high:.3g})"}
