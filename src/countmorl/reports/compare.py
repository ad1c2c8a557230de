"""Runs side by side: what differs in their settings, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from countmorl.errors import RunError
from countmorl.reports.figures import LABELS, axes_of, save_figure, verbatim
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.runs.summary import Summary

COLORS = ("#1f4e79", "#b5482a", "#3b7d4f", "#7a4f9a", "#b8860b", "#4a9ab5", "#8a8a8a", "#c25b8a")


def differing(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """For each run its settings that another run has with another value, or has not at all.

    A setting that another run of the same algorithm has, but an older version did not write, is
    None. What algorithms do not share, such as the weights of TD3+BC and MOPO, is told for each
    where several algorithms are compared.
    """
    manifests = [run.manifest for run in runs]
    has: dict[str, dict[str, Any]] = {}
    for manifest in manifests:
        has.setdefault(manifest.algorithm, {}).update(_settings(manifest))
    full = [dict.fromkeys(has[each.algorithm]) | _settings(each) for each in manifests]
    values: dict[tuple[str, str], set[str]] = {}
    for manifest, settings in zip(manifests, full, strict=True):
        for name, value in settings.items():
            values.setdefault(_meaning(manifest, name), set()).add(str(value))

    def differs(manifest: Manifest, name: str) -> bool:
        meaning = _meaning(manifest, name)
        is_own = bool(meaning[0])
        return len(values[meaning]) > 1 or (is_own and len(has) > 1)

    return [
        {name: value for name, value in settings.items() if differs(manifest, name)}
        for manifest, settings in zip(manifests, full, strict=True)
    ]


def _settings(manifest: Manifest) -> dict[str, Any]:
    data = manifest.data.hash[:8] if manifest.data else None
    seeds = {"seed": manifest.options.seed, "model_seed": manifest.model_seed}
    return manifest.flat_config | seeds | {"data": data}


def _meaning(manifest: Manifest, name: str) -> tuple[str, str]:
    """A setting's name, with its algorithm where that alone gives it a meaning."""
    return manifest.algorithm if name in manifest.own else "", name


def labels(summaries: Sequence[Summary]) -> list[str]:
    """What to call the runs: their folders' names, whole paths where two have the same name."""
    names = [facts.name for facts in summaries]
    unique = len(set(names)) == len(names)
    return names if unique else [facts.run for facts in summaries]


def measure_of(summaries: Sequence[Summary]) -> str:
    """What all of the runs were judged by; scores and returns must not stand side by side."""
    measures = {facts.measure for facts in summaries if facts.measure}
    if len(measures) > 1:
        raise RunError(
            f"These runs were judged by {' and '.join(sorted(measures))}, which cannot be "
            "compared. Compare runs on one task, judged in one way."
        )
    return measures.pop() if measures else "return"


def draw_curves(summaries: Sequence[Summary], path: Path) -> Path:
    """One learning curve per run, in one figure."""
    label_y = LABELS[measure_of(summaries)]
    judged = [facts for facts in summaries if facts.values]
    if not judged:
        raise RunError(
            "None of these runs was evaluated, so there is no learning curve to draw. "
            "--task names an environment to judge policies in while they are trained."
        )
    figure, axes = axes_of()
    data = {str(facts.data) for facts in judged}
    for index, (facts, label) in enumerate(zip(judged, labels(judged), strict=True)):
        again, color = divmod(index, len(COLORS))
        name = label if len(data) == 1 else f"{label} ({facts.data})"
        style = {"color": COLORS[color], "linestyle": ("-", "--", ":")[again % 3]}
        axes.plot(facts.judged_at, facts.values, label=verbatim(name), linewidth=1.3, **style)
    axes.set(xlabel="epoch", ylabel=label_y, title=verbatim(data.pop()) if len(data) == 1 else "")
    axes.legend(frameon=False, fontsize=7)
    return save_figure(figure, path)
