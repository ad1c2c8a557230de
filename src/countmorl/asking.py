"""`ask`: what a run's page needs and nobody has asked for yet; each answer is kept in the run."""

from __future__ import annotations

import json
from collections.abc import Callable

from countmorl.coverage.report import coverage_of_run, write_coverage
from countmorl.data.card import data_card
from countmorl.data.check import check
from countmorl.data.holdout import holdout_sentence
from countmorl.data.sources import Source
from countmorl.errors import CountMorlError
from countmorl.evaluation.judging import judge_runs
from countmorl.evaluation.parts import dataset_of
from countmorl.files import write_text
from countmorl.guarding.choose import choose_guard
from countmorl.monitoring.telling import baseline_card
from countmorl.monitoring.training import baseline_of
from countmorl.reports.dossier import CARD_FILE, Dossier, read_dossier
from countmorl.runs.folder import Run

Say = Callable[[str], None]


def ask(
    run: Run, *, data: Source | None = None, everything: bool = False, say: Say = lambda _: None
) -> tuple[Dossier, list[str]]:
    """A run's dossier, and why a part of it could not be had.

    What the log is, is told where it is found. `everything` also asks for coverage, a judgement and
    a guard, where there are none yet or none of the present policy, which takes minutes.
    """
    problems, found = [], read_dossier(run)
    wanted = {*found.missing, *found.older}
    asked: dict[str, Callable[[], None]] = {"card": lambda: _card(run, data, say)}
    if everything and run.policy_path.exists():
        asked |= {
            "coverage": lambda: write_coverage(run, coverage_of_run(run, data=data, say=say)),
            "judgement": lambda: _judge(run, data, say),
            "guard": lambda: _guard(run, data, say),
        }
    for name, answer in asked.items():
        if name in wanted:
            try:
                answer()
            except CountMorlError as error:
                problems.append(str(error))
    return read_dossier(run), list(dict.fromkeys(problems))


def _card(run: Run, data: Source | None, say: Say) -> None:
    """What the log is, and what a monitor compares with."""
    say("looking at the log")
    dataset, origin = dataset_of(run, data=data, simulated=False), run.manifest.data
    assert origin is not None  # `dataset_of` has found the data by it.
    options = origin.options
    held = holdout_sentence(dataset, options.holdout_episodes, origin.holdout)
    findings = check(dataset, done=options.done, actions=options.actions)
    say("drawing logs of the same kind")
    values = {
        "log": data_card(dataset, findings, held),
        "watch": baseline_card(baseline_of(run, data=dataset)),
    }
    write_text(run.path / CARD_FILE, json.dumps(values, indent=2) + "\n")


def _judge(run: Run, data: Source | None, say: Say) -> None:
    judge_runs([run], data=data, say=say)


def _guard(run: Run, data: Source | None, say: Say) -> None:
    # What all the estimators say of the policy itself has just been asked.
    choose_guard(run, data=data, judged=False, say=say)
