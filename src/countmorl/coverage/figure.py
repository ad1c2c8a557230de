"""One picture of coverage: where the policy and a clone go step by step, and by which columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from countmorl.coverage.report import Coverage
from countmorl.extras import require
from countmorl.files import check_ending
from countmorl.reports.figures import GREY, INK, RED, save_figure, verbatim
from countmorl.runtime.levels import LEVELS

COLORS = {"covered": "#9dc3e6", "thin": "#f4c07a", "unseen": RED}
ENDINGS = (".png",)


def coverage_figure(coverage: Coverage, path: Path) -> None:
    """Draw the shares by step beside the ways out; of data alone, the regions hardly tried."""
    check_ending(path, ENDINGS)
    require("matplotlib").use("Agg")
    plots = require("matplotlib.pyplot")
    figure, axes = plots.subplots(1, 2, figsize=(11.5, 3.8), layout="constrained")
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    if coverage.ways:
        _shares(axes[0], coverage)
        _ways_out(axes[1], coverage)
    else:
        _levels(axes[0], coverage)
        _untried(axes[1], coverage)
    figure.suptitle(verbatim(coverage.source), fontsize=10)
    save_figure(figure, path)


def _shares(axis: Any, coverage: Coverage) -> None:
    policy, clone = coverage.ways
    steps = np.arange(1, len(policy.by_step) + 1)
    stacked = [[100 * each[level] for each in policy.by_step] for level in LEVELS]
    axis.stackplot(
        steps, *stacked, labels=LEVELS, colors=[COLORS[level] for level in LEVELS], linewidth=0
    )
    other = [100 * each["unseen"] for each in clone.by_step]
    axis.plot(np.arange(1, len(other) + 1), other, color=INK, linestyle="--", label="clone, unseen")
    axis.set(xlabel="step of the imagined rollout", ylabel="pairs of the policy, %", ylim=(0, 100))
    axis.margins(x=0)
    axis.legend(fontsize=7, loc="upper center", ncols=4, bbox_to_anchor=(0.5, 1.12), frameon=False)


def _ways_out(axis: Any, coverage: Coverage) -> None:
    ways = coverage.ways_out
    if not ways:
        axis.text(0.5, 0.5, "no rollout left the data", ha="center", transform=axis.transAxes)
        axis.axis("off")
        return
    names = [verbatim(f"{way.column} {way.side}") for way in ways]
    axis.barh(names, [100 * way.share for way in ways], color=INK)
    for place, way in enumerate(ways):
        axis.text(100 * way.share, place, f" step {way.step}", va="center", fontsize=7)
    axis.invert_yaxis()
    axis.set(xlabel="rollouts that leave this way, %")


def _levels(axis: Any, coverage: Coverage) -> None:
    shares = coverage.density.shares
    axis.bar(LEVELS, [100 * shares[level] for level in LEVELS], color=[COLORS[e] for e in LEVELS])
    axis.set(ylabel="rows, %", title=f"counted by {coverage.density.counted_by}")


def _untried(axis: Any, coverage: Coverage) -> None:
    regions = (*coverage.untried, *coverage.situations)[:8]
    if not regions:
        axis.text(0.5, 0.5, "no two common ranges exclude each other", ha="center")
        axis.axis("off")
        return
    names = [verbatim(each.text) for each in regions]
    axis.barh(names, [each.expected for each in regions], color=GREY, label="expected")
    axis.barh(names, [each.rows for each in regions], color=INK, label="logged")
    axis.invert_yaxis()
    axis.tick_params(axis="y", labelsize=7)
    axis.set(xlabel="rows")
    axis.legend(frameon=False, fontsize=7)
