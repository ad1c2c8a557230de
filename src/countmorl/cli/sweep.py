"""`countmorl sweep`: many runs by one command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from countmorl.cli.help import HELP, print_listing
from countmorl.cli.output import print_json, print_table
from countmorl.cli.parse import first_sentence, run_command
from countmorl.errors import ConfigError, did_you_mean, printable
from countmorl.progress import duration, number
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.standing import standing

PROG = "countmorl sweep"
Folder = Annotated[Positional[Path], tyro.conf.arg(metavar="DIR")]
PLANS = ("table1", "table1-v0", "estimates", "dimensions", "curves")
"""The plans by name; `countmorl.sweeps.named` has them, and needs JAX."""


def run(words: list[str]) -> int:
    """Carry out the plan that the first word names, or list the plans."""
    if not words or words[0] in HELP:
        return _list()
    word, *rest = words
    if word in COMMANDS:
        return run_command(COMMANDS[word], rest, f"{PROG} {word}")
    if word.endswith(".toml"):
        from countmorl.cli.sweep_plans import of_file

        return run_command(of_file(Path(word)), rest, f"{PROG} {word}")
    if word not in PLANS:
        known = [*PLANS, *COMMANDS]
        raise ConfigError(
            f"There is no plan '{word}'.{did_you_mean(word, known)} Known: {', '.join(known)}; or "
            "a file PLAN.toml."
        )
    from countmorl.cli.sweep_plans import of_name

    return run_command(of_name(word), rest, f"{PROG} {word}")


def _list() -> int:
    from countmorl.sweeps.named import NAMED

    listed = {name: plan.about for name, plan in NAMED.items()}
    listed |= {"PLAN.toml": "Methods, data, seeds and grids of your own; docs/sweeps.md explains."}
    listed |= {f"{name} DIR": first_sentence(each) for name, each in COMMANDS.items()}
    title = "Carry out many runs: the paper's tables and figures, or a plan of your own."
    foot = f"{PROG} PLAN --help explains its options; --dry-run shows what would be done."
    print_listing(f"{PROG} PLAN [OPTIONS]", title, listed, foot)
    return 0


def status(folder: Folder, json: bool = False) -> int:
    """Show how far a sweep is.

    Args:
        folder: The folder of the sweep.
        json: Print JSON.
    """
    opened = SweepFolder.open(folder)
    rows = [_standing(opened, row) for row in opened.rows()]
    counts = {state: sum(row["state"] == state for row in rows) for state in STATES}
    if json:
        print_json({"plan": opened.plan_name, "counts": counts, "runs": rows})
        return 0
    head = ("run", "state", "stage", "epoch", "score", "time left")
    print_table(head, (_shown(row) for row in rows))
    print(", ".join(f"{count} {state}" for state, count in counts.items() if count))
    for name, sentence in opened.failures().items():
        print(printable(f"{name}: {sentence}"))
    return 0


STATES = ("finished", "running", "stopped", "waiting", "failed")


def _standing(folder: SweepFolder, row: dict[str, Any]) -> dict[str, Any]:
    name = row["name"]
    at = standing(folder.run_path(name), row["config"])
    return {
        "name": name,
        "state": folder.state(name),
        "stage": at.stage if at else None,
        "epoch": at.epoch if at else None,
        "epochs": at.epochs if at else None,
        "score": at.score if at else None,
        "seconds_left": at.seconds_left if at else None,
    }


def _shown(row: dict[str, Any]) -> tuple[str, ...]:
    epoch = "" if row["epoch"] is None else f"{row['epoch']}/{row['epochs'] or '?'}"
    score = "" if row["score"] is None else number(row["score"])
    seconds = row["seconds_left"] if row["state"] == "running" else None
    left = "" if seconds is None else duration(seconds)
    return row["name"], row["state"], row["stage"] or "", epoch, score, left


def stop(folder: Folder) -> int:
    """Ask a sweep to stop: its runs finish their epochs and save.

    The same command that began it goes on with it.

    Args:
        folder: The folder of the sweep.
    """
    SweepFolder.open(folder).ask_to_stop()
    print(f"The sweep in {folder} was asked to stop.", file=sys.stderr)
    return 0


COMMANDS: dict[str, Callable[..., int]] = {"status": status, "stop": stop}
