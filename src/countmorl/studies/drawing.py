"""The parts that the figures are made of: cells, triangles, arrows, curves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.envs.gridworld import LIMIT, STEPS, World
from countmorl.extras import require
from countmorl.files import atomic, check_ending
from countmorl.tabular.mdp import TabularMDP, dense
from countmorl.tabular.planning import followed

STYLE = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
COLOURS = {
    "behaviour": "#999999",
    "plain": "#d55e00",
    "penalty": "#0072b2",
    "theory": "#cc79a7",
    "floored": "#009e73",
    "optimum": "#000000",
}
LAVA, GOAL = "#2b2b2b", "#009e73"
SIDES = (((0, 0), (1, 0)), ((0, 1), (1, 1)), ((0, 0), (0, 1)), ((1, 0), (1, 1)))
"""The side of a cell that belongs to each action, as two corners (x, y)."""
ENDINGS = (".png", ".pdf", ".svg")


@contextmanager
def drawn(
    path: Path, rows: int, columns: int, size: tuple[float, float], **options: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield a figure and its axes, [rows, columns]; write them when the block is done."""
    check_ending(path, ENDINGS)
    require("matplotlib").use("Agg")
    pyplot = require("matplotlib.pyplot")
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(
            rows, columns, figsize=size, layout="constrained", squeeze=False, **options
        )
        try:
            yield figure, axes
            with atomic(path) as temporary:
                figure.savefig(temporary, dpi=115, format=path.suffix[1:])
        finally:
            pyplot.close(figure)


def verbatim(legend: Any) -> None:
    """Show names as they are: Matplotlib reads text between two dollar signs as a formula."""
    for text in legend.get_texts():
        text.set_parse_math(False)


def draw_ground(axis: Any, world: World) -> None:
    """Draw the cells of a world: lava, start, goal."""
    height, width = world.shape
    for state, cell in enumerate(world.cells):
        row, column = divmod(state, width)
        if cell in "LG":
            face = LAVA if cell == "L" else GOAL
            axis.add_patch(_square(column, row, facecolor=face, edgecolor="none", zorder=2))
        if cell == "G":
            axis.text(
                column + 0.5, row + 0.5, cell, ha="center", va="center", color="white", zorder=7
            )
        elif cell == "S":
            axis.text(column + 0.06, row + 0.05, cell, ha="left", va="top", fontsize=7, zorder=7)
    for line in range(1, max(height, width)):
        axis.axhline(line, color="#cfcfcf", linewidth=0.5, zorder=3)
        axis.axvline(line, color="#cfcfcf", linewidth=0.5, zorder=3)
    axis.add_patch(_square(0, 0, width, height, fill=False, edgecolor="#555555", zorder=5))
    axis.set(xlim=(-0.02, width + 0.02), ylim=(height + 0.02, -0.02), aspect="equal")
    axis.axis("off")


def draw_pairs(
    figure: Any, axis: Any, world: World, values: np.ndarray, colours: str, label: str
) -> None:
    """Colour the four triangles of each cell, one an action; cells that end stay as they are."""
    collections = require("matplotlib.collections")
    live = np.flatnonzero(~world.terminal)
    corners, numbers = [], []
    for state in live:
        row, column = divmod(int(state), world.shape[1])
        for action, side in enumerate(SIDES):
            middle = (column + 0.5, row + 0.5)
            corners.append([middle, *((column + x, row + y) for x, y in side)])
            numbers.append(values[state, action])
    patches = collections.PolyCollection(corners, array=np.array(numbers), cmap=colours, zorder=1)
    axis.add_collection(patches)
    draw_ground(axis, world)
    figure.colorbar(patches, ax=axis, location="bottom", shrink=0.8, pad=0.03, label=label)


def draw_plan(figure: Any, axis: Any, world: World, truth: TabularMDP, policy: np.ndarray) -> None:
    """Draw a policy as arrows, on how likely an episode is to pass each cell in the true world."""
    passed = chance_to_pass(truth, policy)
    patches = axis.imshow(
        np.where(world.terminal, np.nan, passed).reshape(world.shape),
        extent=(0, world.shape[1], world.shape[0], 0),
        cmap="Blues",
        vmin=0,
        vmax=1,
    )
    draw_ground(axis, world)
    rows, columns = np.divmod(np.flatnonzero(~world.terminal), world.shape[1])
    down, right = np.array(STEPS)[policy.argmax(axis=1)[~world.terminal]].T
    faint = np.where(passed[~world.terminal] > 0.02, "#000000", "#b5b5b5")
    axis.quiver(
        columns + 0.5 - 0.3 * right,
        rows + 0.5 - 0.3 * down,
        0.6 * right,
        0.6 * down,
        color=faint,
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.012,
        zorder=6,
    )
    label = "chance to pass, in truth"
    figure.colorbar(patches, ax=axis, location="bottom", shrink=0.8, pad=0.03, label=label)


def chance_to_pass(truth: TabularMDP, policy: np.ndarray) -> np.ndarray:
    """Probability that an episode visits each state within the step limit."""
    matrix, _ = followed(truth, policy)
    matrix = dense(matrix)
    chances = np.zeros(truth.states)
    for state in range(truth.states):
        stopping = matrix.copy()
        stopping[state] = np.eye(truth.states)[state]
        where = truth.start
        for _ in range(LIMIT):
            where = where @ stopping
        chances[state] = where[state]
    return chances


def _square(x: float, y: float, width: float = 1, height: float = 1, **options: Any) -> Any:
    return require("matplotlib.patches").Rectangle((x, y), width, height, **options)
