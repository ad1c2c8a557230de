"""The paper's figure: the true and the approximate count of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.extras import require
from countmorl.studies.approximate import Comparison
from countmorl.studies.drawing import drawn
from countmorl.studies.figures import maps_figure
from countmorl.tabular.conservative import count_penalty, lowered
from countmorl.tabular.data import TabularData
from countmorl.tabular.estimate import maximum_likelihood
from countmorl.tabular.mdp import TabularMDP
from countmorl.tabular.planning import policy_iteration

GAMMA = 0.95
COLOURS = {
    "true count": "#0072b2",
    "approximate count (AVG)": "#70ad47",
    "approximate and wrong": "#d55e00",
}


def counts_figure(comparisons: Sequence[Comparison], path: Path) -> None:
    """True counts upwards, approximate counts (AVG) downwards; one panel per comparison."""
    count = len(comparisons)
    columns = min(2, count)
    rows = -(-count // columns)
    with drawn(path, rows, columns, (4.9 * columns, 2.5 * rows + 0.3)) as (figure, axes):
        for axis, comparison in zip(axes.flat, comparisons, strict=False):
            _mirror(axis, comparison)
        for axis in axes.flat[count:]:
            axis.axis("off")
        for axis in axes[:, 0]:
            axis.set_ylabel("count")
        patch = require("matplotlib.patches").Patch
        handles = [patch(color=colour, label=label) for label, colour in COLOURS.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def _mirror(axis: Any, comparison: Comparison) -> None:
    pairs = np.arange(len(comparison.true))
    guess = comparison.estimates["AVG"]
    axis.bar(pairs, comparison.true, width=1, color=COLOURS["true count"])
    exact = guess == comparison.true
    colours = np.where(exact, COLOURS["approximate count (AVG)"], COLOURS["approximate and wrong"])
    axis.bar(pairs, -guess, width=1, color=colours)
    axis.axhline(0, color="black", linewidth=0.6)
    axis.set_yscale("symlog", linthresh=10)
    top = 10.0 ** np.ceil(np.log10(max(10, comparison.true.max(), guess.max())))
    marks = [10.0**power for power in range(1, round(np.log10(top)) + 1)][::2]
    ticks = [-mark for mark in marks[::-1]] + [0.0] + marks
    axis.set_yticks(ticks, [f"{abs(tick):,.0f}" for tick in ticks])
    axis.set(ylim=(-top, top), xlim=(-0.5, len(pairs) - 0.5), xlabel="pair (state * 4 + action)")
    axis.minorticks_off()
    axis.set_title(
        f"{comparison.world.name}: {comparison.true.sum():,} rows, d = {comparison.bits}, "
        f"largest error {comparison.error:,.0f}"
    )


def learned_maps(comparison: Comparison, data: TabularData, path: Path, *, beta: float) -> None:
    """Maps of the approximate counts, of the penalty they give, and of the plan with it."""
    world = comparison.world
    counts = comparison.estimates["AVG"].reshape(world.states, world.actions)
    penalty = count_penalty(counts, beta=beta)
    model = maximum_likelihood(data, gamma=GAMMA)
    policy = policy_iteration(lowered(model, penalty)).policy
    truth = TabularMDP.of_world(world, gamma=GAMMA)
    maps_figure(world, truth, counts, penalty, {"penalty": policy}, path)
