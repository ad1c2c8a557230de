"""`countmorl choose RUN ...`: the policy that is shown to be best, or the clone of the log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_table
from countmorl.errors import ConfigError, printable
from countmorl.evaluation.choice import Choice
from countmorl.evaluation.judging import choose_each as choose_runs
from countmorl.runs.folder import CONFIG, Run


def choose(
    runs: Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN ...")],
    kept: bool = False,
    out: Path | None = None,
    data: str | None = None,
    model: Path | None = None,
    discount: float | None = None,
    horizon: int | None = None,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Rank policies by what the log alone shows, and take the best, or keep what you have.

    Runs that learned from several logs, such as those of a sweep, are chosen among log by log. What
    was taken is kept in each run as choice.json, and `countmorl report` shows what came of it.

    Args:
        runs: Folders of runs, or folders that hold runs (sweeps).
        kept: Look at the policies of their last evaluations, too.
        out: Write the chosen policy to this file (.safetensors); where none is shown to be better
            than the log, the clone of the log. Of several logs, a folder.
        data: Where the log lies now, if it has moved.
        model: A run whose model is rolled out in; by default the first that has one.
        discount: Weight of the next step's value. Default: as countmorl judge has it.
        horizon: Add up plain rewards over so many steps instead.
        seed: Seed of all that is drawn.
        json: Print JSON.
    """
    choices = choose_runs(
        found_runs(runs),
        kept=kept,
        out=out,
        save=True,
        data=data,
        model=model,
        discount=discount,
        horizon=horizon,
        seed=seed,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    if json:
        many = {name: choice.as_dict() for name, choice in choices.items()}
        print_json(many if len(many) > 1 else next(iter(many.values())))
        return 0
    for name, choice in choices.items():
        if len(choices) > 1:
            print(f"{name}:")
        _show(choice)
    if out is not None:
        print(f"{'Policy' if len(choices) == 1 else 'Policies'}: {out}")
    return 0


def _show(choice: Choice) -> None:
    rows = [
        (
            each.judgement.name,
            each.judgement.verdict,
            "-" if each.sure is None else f"{each.sure:.4g}",
        )
        for each in choice.ranked
    ]
    print_table(("policy", "verdict", "gain at least"), rows)
    print(printable(choice.sentence))


def found_runs(paths: tuple[Path, ...]) -> list[Run]:
    """Runs, and those within folders of runs that have a policy."""
    found = []
    for path in paths:
        inner = sorted(each.parent for each in path.glob(f"*/{CONFIG}"))
        whole = not (path / CONFIG).exists() and inner
        opened = [Run.open(each) for each in (inner if whole else [path])]
        found += [run for run in opened if not whole or run.policy_path.exists()]
    if not found:
        raise ConfigError("There is no run with a policy to choose from.")
    return found
