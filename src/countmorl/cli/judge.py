"""`countmorl judge RUN ...`: is a policy better than its log? Without a simulator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_table
from countmorl.errors import printable
from countmorl.evaluation.base import Estimate, Opinion
from countmorl.evaluation.judging import judge_runs
from countmorl.evaluation.verdict import Judgement
from countmorl.reports.judged import refusals
from countmorl.runs.folder import Run

NOT_BETTER = 3
"""Exit code of --require-better where a policy is not shown to be better."""


def judge(
    runs: Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN ...")],
    data: str | None = None,
    model: Path | None = None,
    discount: float | None = None,
    horizon: int | None = None,
    require_better: bool = False,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Judge the policies of runs on one log by the log alone; say whether they are better than it.

    What is found is kept in each run as judgement.json. docs/judging.md tells what each estimator
    assumes.

    Args:
        runs: Folders of runs that learned from the same rows.
        data: Where the log lies now, if it has moved.
        model: A run whose model is rolled out in; by default the first of the runs that has one,
            else one is fitted.
        discount: Weight of the next step's value. Default: the run's, or less where the log's
            episodes are cut too soon for it.
        horizon: Add up plain rewards over so many steps instead.
        require_better: End with exit code 3 where a policy is not shown to be better.
        seed: Seed of all that is drawn.
        json: Print JSON.
    """
    found = judge_runs(
        [Run.open(path) for path in runs],
        data=data,
        model=model,
        discount=discount,
        horizon=horizon,
        seed=seed,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    if json:
        print_json([each.as_dict() for each in found])
    else:
        show(found)
    failed = require_better and any(each.verdict != "better" for each in found)
    return NOT_BETTER if failed else 0


def show(found: list[Judgement]) -> None:
    """Print one table for all policies, then what follows for each."""
    first = found[0].behaviour
    unit = first.unit if isinstance(first, Estimate) else "value"
    rows = [("the log", "behaviour", *_said(first))]
    for each in found:
        heard = {key: one for key, one in each.opinions.items() if isinstance(one, Estimate)}
        rows += [(each.name, key, *_said(one)) for key, one in heard.items()]
    print_table(("policy", "estimator", unit, "95 % interval", "gain on the log"), rows)
    for note in dict.fromkeys(note for each in found for note in each.notes):
        print(printable(f"note: {note}."))
    for line in refusals([each.as_dict() for each in found]):
        print(printable(line))
    for each in found:
        way = f"{each.way.unseen:.1%} of its way is unseen, {each.way.thin:.1%} thin"
        print(f"{each.name}: {way}.")
        print(printable(f"{each.name}: {each.sentence}"))


def _said(opinion: Opinion) -> tuple[str, str, str]:
    if not isinstance(opinion, Estimate):
        return "-", "-", "-"
    low, high = opinion.interval or (None, None)
    reach = "-" if low is None else f"{low:.4g} to {high:.4g}"
    facts = opinion.facts
    gain = f"{facts['gain_low']:+.4g} to {facts['gain_high']:+.4g}" if "gain" in facts else "-"
    return f"{opinion.value:.4g}", reach, gain
