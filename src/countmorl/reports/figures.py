"""Figures of one run: learning curve, coverage of its rollouts, calibration of its counts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.errors import RunError
from countmorl.extras import require
from countmorl.files import atomic
from countmorl.runs.calibration import CALIBRATION_FILE
from countmorl.runs.folder import Run

INK, RED, GREY = "#1f4e79", "#b5482a", "#8a8a8a"
SIZE = (5.2, 3.4)
LABELS = {"score": "normalised score", "return": "return", "value": "judged value"}


class NothingToDraw(RunError):
    """A run has no data for a figure."""


def draw_all(run: Run, behaviour: float | None = None) -> list[Path]:
    """Draw every figure the run has data for; return their paths."""
    paths, reasons = [], []
    for make in (partial(learning_curve, behaviour=behaviour), coverage, errors):
        try:
            paths.append(make(run))
        except NothingToDraw as reason:
            reasons.append(str(reason))
    if not paths:
        raise RunError(f"{run.path} has nothing to draw: {'; '.join(reasons)}.")
    return paths


def learning_curve(run: Run, behaviour: float | None = None) -> Path:
    """Score (or return) of the policy by epoch, with the spread over episodes."""
    judged = [record for record in run.records("policy") if record.judged]
    if not judged:
        raise NothingToDraw("its policy was never evaluated, so there is no learning curve")
    epochs = [record.epoch for record in judged]
    mean, spread = np.array([record.judgement for record in judged]).T
    figure, axes = axes_of()
    axes.plot(epochs, mean, color=INK, marker="o", markersize=3, label="policy")
    axes.fill_between(epochs, mean - spread, mean + spread, color=INK, alpha=0.15, linewidth=0)
    if behaviour is not None:
        axes.axhline(behaviour, color=GREY, linestyle="--", label="behaviour (mean of the data)")
    axes.set(xlabel="epoch", ylabel=LABELS[judged[0].measure or "value"], title=_title(run))
    axes.legend(frameon=False)
    return save_figure(figure, run.path / "learning-curve.png")


def coverage(run: Run) -> Path:
    """How well the data cover the policy's rollouts: median count and share unseen by epoch.

    Where nothing is unseen, a line says so in place of an empty panel.
    """
    rolled = [r for r in run.records("policy") if r.rollout_unseen and r.rollout_count_median]
    if not rolled:
        raise NothingToDraw("its rollouts count nothing, so there is no coverage")
    epochs = [record.epoch for record in rolled]
    unseen = 100 * np.array([record.rollout_unseen for record in rolled])
    counts = np.array([record.rollout_count_median for record in rolled])
    some = bool(unseen.max() > 0)
    figure, axes = axes_of(rows=1 + some)
    bottom, last = np.atleast_1d(axes)[-1], unseen.shape[1] - 1
    for step, color in dict([(0, INK), (last, RED)]).items():
        label = f"step {step + 1} of {last + 1}"
        bottom.plot(epochs, counts[:, step], color=color, label=label)
        if some:
            axes[0].plot(epochs, unseen[:, step], color=color)
    if some:
        axes[0].set(ylabel="pairs never seen, %", ylim=(0, 1.1 * unseen.max()))
    else:
        note = "no imagined pair was unseen"
        bottom.text(0.98, 0.04, note, transform=bottom.transAxes, ha="right", fontsize=8)
    bottom.set(xlabel="epoch", ylabel="median count", ylim=(0, 1.15 * max(1.0, counts.max())))
    penalty = bottom.twinx()
    paid = [np.mean(record.rollout_penalty or [0.0]) for record in rolled]
    penalty.plot(epochs, paid, color=GREY, linestyle=":")
    penalty.set(ylabel="mean penalty (dotted)", ylim=(0, 1.15 * max(paid) or 1.0))
    penalty.spines["top"].set_visible(False)
    bottom.legend(frameon=False)
    np.atleast_1d(axes)[0].set_title(_title(run))
    return save_figure(figure, run.path / "coverage.png")


def errors(run: Run) -> Path:
    """Held-out model error against the estimated count, in bins: the calibration of counts."""
    if not (run.path / CALIBRATION_FILE).exists():
        raise NothingToDraw("it counts nothing, so there is no calibration")
    facts = run.calibration()
    count = np.array([max(each.count, 0.1) for each in facts.bins])
    figure, axes = axes_of()
    axes.errorbar(
        count,
        [each.error for each in facts.bins],
        yerr=[2 * each.error_se for each in facts.bins],
        color=INK,
        marker="o",
        markersize=4,
        capsize=2,
    )
    axes.set(xscale="log", xlabel="estimated count", ylabel="held-out model error (scaled)")
    axes.set_title(f"{_title(run)}\nrank correlation {facts.rank_correlation:.2f}", fontsize=9)
    return save_figure(figure, run.path / "calibration.png")


def axes_of(rows: int = 1) -> tuple[Any, Any]:
    """An empty figure in the style of all of ours."""
    require("matplotlib").use("Agg")
    plots = require("matplotlib.pyplot")
    size = (SIZE[0], SIZE[1] * (1 if rows == 1 else 1.5))
    figure, axes = plots.subplots(rows, 1, figsize=size, sharex=True, layout="constrained")
    for each in np.atleast_1d(axes):
        each.spines[["top", "right"]].set_visible(False)
        each.grid(alpha=0.25, linewidth=0.5)
    return figure, axes


def _title(run: Run) -> str:
    manifest = run.manifest
    return verbatim(f"{manifest.algorithm} on {manifest.data.name if manifest.data else '?'}")


def verbatim(text: str) -> str:
    """A name as it is: Matplotlib reads text between two dollar signs as a formula."""
    return text.replace("$", r"\$")


def save_figure(figure: Any, path: Path) -> Path:
    """Write a figure as PNG, atomically."""
    try:
        with atomic(path) as temporary:
            figure.savefig(temporary, dpi=160, format="png", metadata={"Software": None})
    finally:
        require("matplotlib.pyplot").close(figure)
    return path
