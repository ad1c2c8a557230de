"""`countmorl counts ...`: count new logs without a training, and add up counts of several sites."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.cli.output import RunFolder, print_json, print_table
from countmorl.counting.adding import Standing, add_log, export_file, merge_file, standing
from countmorl.runs.folder import Run

Log = Annotated[Positional[str], tyro.conf.arg(metavar="LOG")]
File = Annotated[Positional[Path], tyro.conf.arg(metavar="FILE")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


def add(run: RunFolder, log: Log, missing: tuple[str, ...] = (), json: bool = False) -> int:
    """Count a new log in addition to a run's training, without training anything.

    The guard, a bundle that is exported from now on, and `countmorl count` see it. The run's own
    files stay as they are; a log that was counted already is refused.

    Args:
        run: The folder of a run that counts, such as one of count-morl.
        log: A table of the training's columns, or arrays (.hdf5, .npz).
        missing: Rules for missing values of a table, such as outcome=0.
        json: Print JSON.
    """
    return _show(add_log(Run.open(run), log, missing=missing), json)


def export(run: RunFolder, out: Out, json: bool = False) -> int:
    """Write what was added to a run to one file, for other sites that have a copy of the run.

    The file holds codes and how often each was seen; no row of any log.

    Args:
        run: The folder of a run to which logs were added.
        out: File to write (.safetensors).
        json: Print JSON.
    """
    return _show(export_file(Run.open(run), out), json)


def merge(run: RunFolder, file: File, json: bool = False) -> int:
    """Add the counts that another site has exported from its copy of the same run.

    Args:
        run: The folder of the run.
        file: What `countmorl counts export` wrote.
        json: Print JSON.
    """
    return _show(merge_file(Run.open(run), file), json)


def show(run: RunFolder, json: bool = False) -> int:
    """List the logs that were added to a run's counts.

    Args:
        run: The folder of a run that counts.
        json: Print JSON.
    """
    return _show(standing(Run.open(run)), json)


def _show(found: Standing, json: bool) -> int:
    if json:
        print_json(asdict(found) | {"rows": found.rows})
        return 0
    if not found.logs:
        print("Nothing was added; the counts are those of the training.")
        return 0
    print_table(
        ("added", "rows", "counted", "hash"),
        ((log.name, f"{log.rows:,}", f"{log.counted:,}", log.hash[:12]) for log in found.logs),
    )
    if found.unseen is not None:
        print(f"{found.unseen:.1%} of the last one's pairs were unseen before.")
    print(f"{found.rows:,} rows were added to the training's counts.")
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "add": add,
    "export": export,
    "merge": merge,
    "show": show,
}
