"""The trade-off of a guard in one picture: what it costs, and what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from countmorl.extras import require
from countmorl.files import check_ending
from countmorl.guarding.choose import Chosen
from countmorl.guarding.curve import Point
from countmorl.reports.figures import GREY, INK, RED, save_figure, verbatim


def guard_figure(chosen: Chosen, name: str, path: Path) -> None:
    """Draw how often the guard acts, and what the guarded policy is worth, over thresholds."""
    check_ending(path, (".png",))
    require("matplotlib").use("Agg")
    plots = require("matplotlib.pyplot")
    figure, axes = plots.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    guarded = [point for point in chosen.points if point.name == "guarded"]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25, linewidth=0.5)
        axis.axvline(chosen.point.threshold, color=GREY, linewidth=0.8)
        axis.set(xscale="log", xlabel="threshold: logged pairs like this one")
    _rates(axes[0], guarded)
    _values(axes[1], chosen, guarded)
    figure.suptitle(verbatim(f"{name}; the line is what was chosen"), fontsize=10)
    save_figure(figure, path)


def _rates(axis: Any, guarded: list[Point]) -> None:
    for field, label, color in (
        ("held_out", "the log's own pairs", GREY),
        ("at_logged", "the policy at logged states", INK),
        ("imagined", "imagined rollouts", RED),
    ):
        known = [(p.threshold, getattr(p, field)) for p in guarded if getattr(p, field) is not None]
        if known:
            x, y = zip(*known, strict=True)
            axis.plot(x, [100 * each for each in y], "o-", color=color, markersize=3, label=label)
    axis.set(ylabel="fall-back acts, % of the steps", ylim=(0, None))
    axis.legend(frameon=False, fontsize=7)


def _values(axis: Any, chosen: Chosen, guarded: list[Point]) -> None:
    known = [point for point in guarded if point.value is not None and point.interval]
    if not known:
        axis.text(0.5, 0.5, "nobody acts: nothing to play", ha="center", transform=axis.transAxes)
        return
    x = [point.threshold for point in known]
    axis.plot(x, [point.value for point in known], "o-", color=INK, markersize=3, label="guarded")
    low, high = zip(*(point.interval or (0.0, 0.0) for point in known), strict=True)
    axis.fill_between(x, low, high, color=INK, alpha=0.15, linewidth=0)
    for point, style in ((chosen.points[0], "--"), (chosen.points[-1], ":")):
        if point.value is not None:
            axis.axhline(point.value, color=RED, linestyle=style, label=point.name)
    axis.set(ylabel="value in the model")
    axis.legend(frameon=False, fontsize=7)
