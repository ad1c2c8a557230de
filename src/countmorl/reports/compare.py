"""Runs side by side: what differs in their settings, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.errors import RunError
from countmorl.reports.figures import axes_of, read_calibration, save_figure
from countmorl.runs.folder import Run

COLORS = ("#1f4e79", "#b5482a", "#3b7d4f", "#7a4f9a", "#b8860b", "#4a9ab5", "#8a8a8a", "#c25b8a")

SHARED = {field.name for field in fields(AbstractModelBased)} | {"seed", "model_seed", "data"}
"""Settings that mean the same in every algorithm that has them; nested ones do too."""


def summarize(run: Run, last: int = 5) -> dict[str, Any]:
    """Scores, values, penalties and speed of one run.

    `score` is the mean of the last evaluations, as the paper reports it; runs on tasks without
    reference scores have their mean return there.
    """
    policy = [m for m in run.metrics() if m.get("stage") == "policy"]
    if not policy:
        raise RunError(
            f"{run.path} has no epoch of a policy: it is of another kind, or has just begun."
        )
    judged = [m for m in policy if "return" in m]
    key = "score" if judged and "score" in judged[0] else "return"
    scores = [m[key] for m in judged]
    timing = [t for t in run.lines("timing.jsonl") if t.get("stage") == "policy"]
    end = policy[-1]
    return {
        "run": str(run.path),
        "name": run.path.absolute().name,
        "algorithm": known(run, "algorithm"),
        "data": known(run, "data", "name"),
        "epochs": len(policy),
        "measure": key if judged else None,
        "score": float(np.mean(scores[-last:])) if scores else None,
        "score_spread": float(np.std(scores[-last:])) if len(scores[-last:]) > 1 else None,
        "scores": scores,
        "judged_at": [m["epoch"] for m in judged],
        "q": end.get("q"),
        "penalty": float(np.mean(end["rollout_penalty"])) if "rollout_penalty" in end else None,
        **counted(run),
        "updates_per_second": _middle(
            [t["updates_per_second"] for t in timing if "updates_per_second" in t]
        ),
    }


def counted(run: Run) -> dict[str, float | None]:
    """Rows per code, the middle of the members, and a typical held-out pair's count."""
    saved = run.load_result("counter")
    if saved is None:
        return {"rows_per_code": None, "typical_count": None}
    tables = [array for name, array in saved[0].items() if name.endswith(".counts")]
    return {
        "rows_per_code": _middle([float(table.sum() / len(table)) for table in tables]),
        "typical_count": read_calibration(run).get("median_count"),
    }


def known(run: Run, *names: str) -> Any:
    """A value of a run's config.json."""
    value = run.config
    for name in names:
        if not isinstance(value, dict) or name not in value:
            raise RunError(f"{run.path}/config.json is incomplete: {'.'.join(names)} is missing.")
        value = value[name]
    return value


def differing(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """For each run its settings that another run has with another value, or has not at all.

    A setting that another run of the same algorithm has, but an older version did not write, is
    None. What algorithms do not share, such as the alphas of TD3+BC and Count-MORL, is told for
    each where several algorithms are compared.
    """
    flat = [
        _flat(dict(known(run, "config")))
        | {
            "seed": known(run, "options", "seed"),
            "model_seed": run.config.get("model_seed"),
            "data": str(known(run, "data", "hash"))[:8],
        }
        for run in runs
    ]
    has: dict[str, dict[str, Any]] = {}
    for run, settings in zip(runs, flat, strict=True):
        has.setdefault(str(known(run, "algorithm")), {}).update(settings)
    full = [
        {name: settings.get(name) for name in has[str(known(run, "algorithm"))]}
        for run, settings in zip(runs, flat, strict=True)
    ]
    values: dict[tuple[str, str], set[str]] = {}
    for run, settings in zip(runs, full, strict=True):
        for name, value in settings.items():
            values.setdefault(_meaning(run, name), set()).add(str(value))

    def differs(run: Run, name: str) -> bool:
        meaning = _meaning(run, name)
        is_own = bool(meaning[0])
        return len(values[meaning]) > 1 or (is_own and len(has) > 1)

    return [
        {name: value for name, value in settings.items() if differs(run, name)}
        for run, settings in zip(runs, full, strict=True)
    ]


def labels(summaries: Sequence[dict[str, Any]]) -> list[str]:
    """What to call the runs: their folders' names, whole paths where two have the same name."""
    names = [facts["name"] for facts in summaries]
    unique = len(set(names)) == len(names)
    return names if unique else [facts["run"] for facts in summaries]


def measure_of(summaries: Sequence[dict[str, Any]]) -> str:
    """What all of the runs were judged by; scores and returns must not stand side by side."""
    measures = {facts["measure"] for facts in summaries} - {None}
    if len(measures) > 1:
        raise RunError(
            "Some of these runs have normalised scores and some only returns, which cannot be "
            "compared. Compare runs on one task."
        )
    return measures.pop() if measures else "return"


def draw_curves(summaries: Sequence[dict[str, Any]], path: Path) -> Path:
    """One learning curve a run, in one figure."""
    label_y = {"score": "normalised score", "return": "return"}[measure_of(summaries)]
    figure, axes = axes_of()
    data = {facts["data"] for facts in summaries}
    for index, (facts, label) in enumerate(zip(summaries, labels(summaries), strict=True)):
        again, color = divmod(index, len(COLORS))
        name = label if len(data) == 1 else f"{label} ({facts['data']})"
        style = {"color": COLORS[color], "linestyle": ("-", "--", ":")[again % 3]}
        axes.plot(facts["judged_at"], facts["scores"], label=name, linewidth=1.3, **style)
    axes.set(xlabel="epoch", ylabel=label_y, title=data.pop() if len(data) == 1 else "")
    axes.legend(frameon=False, fontsize=7)
    return save_figure(figure, path)


def _meaning(run: Run, name: str) -> tuple[str, str]:
    """A setting's name, with its algorithm where that alone gives it a meaning."""
    shared = "." in name or name in SHARED
    return "" if shared else str(known(run, "algorithm")), name


def _flat(settings: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in settings.items():
        nested = isinstance(value, dict)
        found |= _flat(value, f"{before}{name}.") if nested else {f"{before}{name}": value}
    return found


def _middle(values: list[float]) -> float | None:
    return float(np.median(values)) if values else None
