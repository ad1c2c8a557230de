"""Figures of one run: learning curve, coverage of its rollouts, calibration of its counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.errors import RunError
from countmorl.extras import require
from countmorl.files import atomic
from countmorl.runs.folder import Run

INK, RED, GREY = "#1f4e79", "#b5482a", "#8a8a8a"
SIZE = (5.2, 3.4)


def draw_all(run: Run, behaviour: float | None = None) -> list[Path]:
    """Draw every figure the run has data for; return their paths."""
    makers = (
        lambda: learning_curve(run, behaviour),
        lambda: coverage(run),
        lambda: calibration(run),
    )
    paths = []
    for make in makers:
        try:
            paths.append(make())
        except RunError:  # The run has no such data: a model-free run has no coverage.
            continue
    if not paths:
        raise RunError(f"{run.path} has nothing to draw yet; let it train for a few epochs.")
    return paths


def learning_curve(run: Run, behaviour: float | None = None) -> Path:
    """Score (or return) of the policy by epoch, with the spread over episodes."""
    judged = [m for m in run.metrics() if m["stage"] == "policy" and "return" in m]
    if not judged:
        raise RunError(f"{run.path} was never evaluated, so there is no learning curve.")
    key = "score" if "score" in judged[0] else "return"
    epochs = [m["epoch"] for m in judged]
    mean = np.array([m[key] for m in judged])
    spread = np.array([m[f"{key}_std"] for m in judged])
    figure, axes = axes_of()
    axes.plot(epochs, mean, color=INK, marker="o", markersize=3, label="policy")
    axes.fill_between(epochs, mean - spread, mean + spread, color=INK, alpha=0.15, linewidth=0)
    if behaviour is not None:
        axes.axhline(behaviour, color=GREY, linestyle="--", label="behaviour (mean of the data)")
    label = "normalised score" if key == "score" else "return"
    axes.set(xlabel="epoch", ylabel=label, title=_title(run))
    axes.legend(frameon=False)
    return save_figure(figure, run.path / "learning-curve.png")


def coverage(run: Run) -> Path:
    """How well the data cover the policy's rollouts: share unseen and median count by epoch."""
    wanted = {"rollout_unseen", "rollout_count_median"}
    rolled = [m for m in run.metrics() if wanted <= set(m)]
    if not rolled:
        raise RunError(f"{run.path} counts nothing, so there is no coverage to draw.")
    epochs = [m["epoch"] for m in rolled]
    figure, (top, bottom) = axes_of(rows=2)
    steps = len(rolled[0]["rollout_unseen"])
    for step, color in ((0, INK), (steps - 1, RED)):
        label = f"step {step + 1} of {steps}"
        top.plot(
            epochs, [100 * m["rollout_unseen"][step] for m in rolled], color=color, label=label
        )
        bottom.plot(epochs, [m["rollout_count_median"][step] for m in rolled], color=color)
    highest = max(100 * max(m["rollout_unseen"]) for m in rolled)
    top.set(ylabel="pairs never seen, %", title=_title(run), ylim=(0, max(1.0, 1.1 * highest)))
    bottom.set(xlabel="epoch", ylabel="median count", ylim=(0, None))
    penalty = bottom.twinx()
    penalty.plot(epochs, [np.mean(m["rollout_penalty"]) for m in rolled], color=GREY, linestyle=":")
    penalty.set(ylabel="mean penalty (dotted)", ylim=(0, None))
    penalty.spines["top"].set_visible(False)
    top.legend(frameon=False)
    return save_figure(figure, run.path / "coverage.png")


def calibration(run: Run) -> Path:
    """Held-out model error against the estimated count, in bins."""
    facts = read_calibration(run)
    count = np.array([max(b["count"], 0.1) for b in facts["bins"]])
    error = np.array([b["error"] for b in facts["bins"]])
    bars = np.array([b["error_se"] for b in facts["bins"]])
    figure, axes = axes_of()
    axes.errorbar(count, error, yerr=2 * bars, color=INK, marker="o", markersize=4, capsize=2)
    axes.set(xscale="log", xlabel="estimated count", ylabel="held-out model error (scaled)")
    axes.set_title(f"{_title(run)}\nrank correlation {facts['rank_correlation']:.2f}", fontsize=9)
    return save_figure(figure, run.path / "calibration.png")


def read_calibration(run: Run) -> dict[str, Any]:
    """Return the calibration of a run's counts."""
    path = run.path / "calibration.json"
    if not path.exists():
        raise RunError(
            f"{run.path} has no calibration: it comes with the algorithms that count, such as "
            "count-morl, once their codes are fitted."
        )
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise RunError(f"{path} is damaged: {error}.") from error


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
    config = run.config
    return f"{config['algorithm']} on {config['data']['name']}"


def save_figure(figure: Any, path: Path) -> Path:
    """Write a figure as PNG, atomically."""
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=160, format="png", metadata={"Software": None})
    require("matplotlib.pyplot").close(figure)
    return path
