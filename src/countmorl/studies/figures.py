"""Pictures of worlds, plans and bounds. matplotlib is imported when the first is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.envs.gridworld import LIMIT, World
from countmorl.studies.checks import StatementResult
from countmorl.studies.drawing import COLOURS, draw_ground, draw_pairs, draw_plan, drawn
from countmorl.studies.planners import Outcome
from countmorl.studies.tightness import Shrinkage
from countmorl.tabular.mdp import TabularMDP
from countmorl.tabular.planning import after

CURVES = (
    ("all_pairs", "multinomial bound, all 256 pairs", "#0072b2", "-"),
    ("theorem", "Theorem 1, 100 models", "#cc79a7", "-"),
    ("multinomial", "multinomial bound, one pair", "#56b4e9", "-"),
    ("measured", "measured, 95% quantile", "#000000", "--"),
    ("median", "measured, median", "#000000", ":"),
)

TITLES = {"plain": "plan on the model", "penalty": "plan with the penalty"}


def worlds_figure(worlds: Sequence[World], path: Path) -> None:
    """Draw the layouts side by side."""
    with drawn(path, 1, len(worlds), (2.1 * len(worlds), 2.3)) as (_, axes):
        for axis, world in zip(axes.flat, worlds, strict=True):
            draw_ground(axis, world)
            axis.set_title(world.env_id)


def maps_figure(
    world: World,
    truth: TabularMDP,
    counts: np.ndarray,
    penalty: np.ndarray,
    plans: dict[str, np.ndarray],
    path: Path,
) -> None:
    """From counts to penalty to policies: one map each; a policy's map shows where it goes."""
    logs = np.where(counts > 0, np.log10(np.maximum(counts, 1)), np.nan)
    with drawn(path, 1, 2 + len(plans), (2.5 * (2 + len(plans)), 3.75)) as (figure, axes):
        first, second, *others = axes.flat
        draw_pairs(figure, first, world, logs, "viridis", "log10 of the count")
        first.set_title(f"counts of {int(counts.sum()):,} rows\n(white: never seen)")
        draw_pairs(figure, second, world, penalty, "Reds", "penalty")
        second.set_title("penalty on each action\n(darker: thinner data)")
        for axis, (name, policy) in zip(others, plans.items(), strict=True):
            draw_plan(figure, axis, world, truth, policy)
            where = after(truth, policy, LIMIT)
            ends = f"goal {where[world.goal]:.0%}, lava {where[world.lava].sum():.0%}"
            axis.set_title(
                f"{TITLES.get(name, name)}\n{ends}", color=COLOURS.get(name, "black"), weight="bold"
            )


def study_figure(outcomes: Sequence[Outcome], path: Path) -> None:
    """Return and lava rate over the size of the data, one column per world."""
    worlds = list(dict.fromkeys(outcome.world for outcome in outcomes))
    size = (2.6 * len(worlds) + 0.4, 4.6)
    labels = (
        ("returns", "return (goal - lava)", (-1.06, 1.06)),
        ("lava", "lava rate", (-0.03, 1.03)),
    )
    with drawn(path, 2, len(worlds), size, sharex="col", sharey="row") as (figure, axes):
        for column, world in enumerate(worlds):
            for row, (field, label, limits) in enumerate(labels):
                _curves(axes[row, column], [o for o in outcomes if o.world == world], field)
                axes[row, 0].set(ylabel=label, ylim=limits)
            axes[0, column].set_title(world)
            axes[1, column].set_xlabel("rows of data")
        handles, names = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names))


def theory_figure(curve: Shrinkage, findings: Sequence[StatementResult], path: Path) -> None:
    """How the bounds shrink with n, and how close each statement comes to failing."""
    with drawn(path, 1, 2, (9.6, 3.9), width_ratios=(1, 1.05)) as (_, axes):
        left, right = axes.flat
        for name, label, colour, style in CURVES:
            text = f"{label} (slope {curve.slope(name):.2f})"
            left.loglog(curve.counts, getattr(curve, name), style, color=colour, label=text)
        left.set(xlabel="count n(s, a)", ylabel="TV distance to the truth", ylim=(6e-4, 1.5))
        left.legend(fontsize=7.5, loc="lower left")
        _tightness(right, findings)


def _tightness(axis: Any, findings: Sequence[StatementResult]) -> None:
    statements = list(dict.fromkeys(finding.statement for finding in findings))[::-1]
    for height, statement in enumerate(statements):
        ours = [finding for finding in findings if finding.statement == statement]
        typical = next(f.median_tightness for f in ours if f.family == "random")
        highest = max(finding.highest_tightness for finding in ours)
        axis.plot([typical, highest], [height, height], color="#cccccc", zorder=0)
        axis.scatter(typical, height, color="#0072b2", s=22)
        axis.scatter(highest, height, color="#d55e00", s=22)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_yticks(range(len(statements)), statements, fontsize=8)
    axis.set(xlabel="actual / bound (a violation lies right of 1)", xlim=(-0.03, None))
    axis.scatter([], [], color="#0072b2", s=22, label="median, random worlds")
    axis.scatter([], [], color="#d55e00", s=22, label="highest, all families")
    axis.legend(fontsize=7.5, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


def _curves(axis: Any, outcomes: Sequence[Outcome], field: str) -> None:
    """One line per method, its mean over seeds with a band of two standard errors."""
    for method in dict.fromkeys(outcome.method for outcome in outcomes):
        ours = [outcome for outcome in outcomes if outcome.method == method]
        values = [getattr(outcome, field) for outcome in ours]
        mean = np.array([value.mean() for value in values])
        if method == "optimum":
            axis.axhline(mean[0], color=COLOURS[method], linewidth=0.8, label=method, zorder=0)
            continue
        error = np.array([2 * value.std(ddof=min(1, len(value) - 1)) for value in values])
        error /= np.sqrt([len(value) for value in values])
        rows = [outcome.rows for outcome in ours]
        axis.semilogx(rows, mean, "o-", ms=3, color=COLOURS[method], label=method)
        axis.fill_between(rows, mean - error, mean + error, color=COLOURS[method], alpha=0.15, lw=0)
