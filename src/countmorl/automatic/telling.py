"""What came of it, as plain values: for scripts, for the page, and for going on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from countmorl.automatic.folder import AutoFolder
from countmorl.automatic.judging import Candidate
from countmorl.automatic.portfolio import CLONE, Trial
from countmorl.evaluation.base import Estimate
from countmorl.evaluation.choice import Choice
from countmorl.evaluation.verdict import Judgement, modelled
from countmorl.runs.folder import CONFIG, Run
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.rows import Row

SHORT = 0.05
"""Share of what the log earned that a clone may be short of it without a warning."""


def trial_card(
    folder: AutoFolder, trial: Trial, row: Row | None, failures: Mapping[str, str]
) -> dict[str, Any]:
    """What was tried, and how far it came."""
    card: dict[str, Any] = {
        "label": trial.label,
        "algorithm": trial.algorithm,
        "about": trial.about,
        "settings": dict(trial.settings),
        "epochs": None if row is None else row.config.epochs,
        "done": 0,
        "seconds": 0.0,
        "state": "no time for it",
    }
    if row is None:
        return card
    path = folder.runs.run_path(row.name)
    if (path / CONFIG).exists():
        run = Run.open(path)
        records = run.records("policy")
        card["done"] = records[-1].epoch if records else 0
        card["seconds"] = sum(each.seconds for each in run.timings())
        card["state"] = "finished" if run.finished else "stopped when its time was over"
    if row.name in failures:
        card["state"] = f"failed: {failures[row.name]}"
    return card


def result_of(
    folder: AutoFolder,
    tried: Sequence[Trial],
    plan: Sweep,
    found: Sequence[Candidate],
    judged: Mapping[str, Judgement],
    choice: Choice,
    handed_out: Candidate | None,
) -> dict[str, Any]:
    """What was tried, how each policy was judged, and what is to be done."""
    rows = {row.label: row for row in plan.trained}
    failures = folder.runs.failures()
    sure = {each.judgement.name: each.sure for each in choice.ranked}
    named = {each.name: each for each in found}
    ranked = [each.judgement.name for each in choice.ranked]
    return {
        "tried": [trial_card(folder, each, rows.get(each.label), failures) for each in tried],
        "judged": [
            {
                "label": named[name].label,
                "epoch": named[name].epoch,
                "sure": sure[name],
                **judged[name].as_dict(),
            }
            for name in ranked
        ],
        "skipped": [each.name for each in found if each.name not in judged],
        "choice": {
            "taken": choice.taken.name if choice.taken else None,
            "sentence": choice.sentence,
            "reasons": reasons(choice, judged),
            "policy": str(folder.policy_path),
            "handed_out": handed_out.name if handed_out else f"the {CLONE} of the log",
            "warning": _warning(choice, handed_out, judged),
        },
    }


def _warning(
    choice: Choice, handed_out: Candidate | None, judged: Mapping[str, Judgement]
) -> str | None:
    """What whoever deploys the clone of a log in its place should know."""
    if choice.taken is not None:
        return None
    found = judged.get(handed_out.name) if handed_out else None
    if found is None or found.verdict == "cannot be judged":
        return "nobody could judge it: go on as the log does, and do not deploy it in its place."
    if found.verdict == "worse":
        return "it is judged worse than the log: go on as the log does, and do not deploy it."
    log, worth = found.behaviour, modelled(found)
    if isinstance(log, Estimate) and worth and worth[1] < (log.interval or (log.value,))[0]:
        return (
            f"in the model it is worth {worth[1]:.4g}, and the log earned {log.value:.4g}: go on "
            "as the log does, and do not deploy it in its place."
        )
    if isinstance(log, Estimate) and found.gain and -found.gain[0] > SHORT * abs(log.value):
        return (
            f"for all that is known it may earn {-found.gain[0]:.4g} less than the log, which "
            f"earned {log.value:.4g}: go on as the log does where you can."
        )
    return None


def reasons(choice: Choice, judged: Mapping[str, Judgement]) -> list[str]:
    """Why, in sentences."""
    if choice.taken is not None:
        way = choice.taken.way
        return [
            f"{choice.taken.name} is {choice.taken.sentence}",
            f"{way.unseen:.1%} of its way is pairs that were never logged, {way.thin:.1%} pairs "
            "that were hardly logged.",
            "Who looks at many policies finds one that was lucky: the gain that is promised holds "
            f"for all {len(judged)} that were judged at once, with 95 % certainty.",
        ]
    said = []
    for verdict in ("better", "not shown to be better", "worse", "cannot be judged"):
        if count := sum(each.verdict == verdict for each in judged.values()):
            lucky = ", but not by enough for one picked from so many" if verdict == "better" else ""
            said.append(f"{count} of {len(judged)}: {verdict}{lucky}.")
    best = choice.ranked[0].judgement
    return [*said, f"The first of them: {best.name}: {best.sentence}"]
