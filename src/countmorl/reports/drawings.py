"""Figures for a paper, as PNG and SVG: curves, profiles, interquartile means, improvement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.errors import RunError
from countmorl.extras import require
from countmorl.files import atomic
from countmorl.reports.aggregates import Aggregates
from countmorl.reports.charts import SIDES, short, style
from countmorl.reports.curves import Panel, panels
from countmorl.reports.figures import LABELS, verbatim
from countmorl.reports.report import Report

COLUMN = 3.3
"""Width of a paper's column in inches."""
ACROSS = 3
"""Panels beside each other, over the whole page."""
TITLE = 34
"""Letters that there is room for above a panel."""
LINES = {"solid": "-", "dash": "--", "dot": ":"}
STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "countmorl",
}
Styles = dict[str, tuple[str, str]]


def draw_report(report: Report, folder: Path) -> list[Path]:
    """Draw every figure that there is something for; return the paths."""
    shown, styles, paths = panels(report.study), style(report.study.methods), []
    found = report.aggregates
    with _drawing() as plots:
        if shown:
            paths += _save(plots, _curves(plots, shown, styles), folder / "curves")
        if found and found.overall:
            paths += _save(plots, _profiles(plots, found, styles), folder / "profiles")
            paths += _save(plots, _iqm(plots, found, styles), folder / "iqm")
        if found and found.improvements:
            paths += _save(plots, _improvement(plots, found), folder / "improvement")
    if not paths:
        raise RunError("None of these runs was evaluated, so there is no figure to draw.")
    return paths


@contextmanager
def _drawing() -> Iterator[Any]:
    require("matplotlib").use("Agg")
    plots = require("matplotlib.pyplot")
    with plots.rc_context(STYLE):
        yield plots


def _save(plots: Any, figure: Any, stem: Path) -> list[Path]:
    """Write a figure in both forms; no date in them, so equal runs give equal files."""
    forms = {".png": {"Software": None}, ".svg": {"Date": None}}
    paths = [stem.with_suffix(ending) for ending in forms]
    try:
        for path, about in zip(paths, forms.values(), strict=True):
            with atomic(path) as temporary:
                form = path.suffix.removeprefix(".")
                figure.savefig(temporary, dpi=300, format=form, metadata=about)
    finally:
        plots.close(figure)
    return paths


def _curves(plots: Any, shown: Sequence[Panel], styles: Styles) -> Any:
    """Small multiples: a panel per dataset, one legend below all."""
    across = 2 if len(shown) == 4 else min(ACROSS, len(shown))
    down = -(-len(shown) // across)
    size = (max(COLUMN, 2.25 * across), 1.75 * down + 0.5)
    figure, axes = plots.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    lines: dict[str, Any] = {}
    for place, panel in zip(axes.flat, shown, strict=False):
        for curve in panel.curves:
            color, dash = styles[curve.method]
            mean, line = np.array(curve.mean), LINES[dash]
            (lines[curve.method],) = place.plot(curve.epochs, mean, line, color=color, lw=1.2)
            if curve.spread is not None:
                spread = np.array(curve.spread)
                edges = (mean - spread, mean + spread)
                place.fill_between(curve.epochs, *edges, color=color, alpha=0.15, lw=0)
        title = verbatim(short(panel.data, TITLE))
        place.set(title=title, xlabel="epoch", ylabel=LABELS[panel.measure])
    for place in axes.flat[len(shown) :]:
        place.set_visible(False)
    _legend(figure, {method: lines[method] for method in styles if method in lines})
    return figure


def _profiles(plots: Any, found: Aggregates, styles: Styles) -> Any:
    figure, axes = plots.subplots(figsize=(COLUMN, 2.6), layout="constrained")
    lines = {}
    for each in found.overall:
        color, dash = styles[each.method]
        part = each.profile
        (lines[each.method],) = axes.plot(part.taus, part.shares, LINES[dash], color=color, lw=1.2)
        if part.low and part.high:
            axes.fill_between(part.taus, part.low, part.high, color=color, alpha=0.15, lw=0)
    axes.set(xlabel=r"score $\tau$", ylabel=r"share of runs above $\tau$", ylim=(-0.02, 1.02))
    _legend(figure, lines)
    return figure


def _iqm(plots: Any, found: Aggregates, styles: Styles) -> Any:
    order = sorted(found.overall, key=lambda each: each.iqm.value)
    size = (COLUMN, 0.8 + 0.22 * len(order))
    figure, axes = plots.subplots(figsize=size, layout="constrained")
    for place, each in enumerate(order):
        color, told = styles[each.method][0], each.iqm
        if told.low is not None:
            axes.plot([told.low, told.high], [place, place], color=color, lw=4, alpha=0.35)
        axes.plot([told.value], [place], "o", color=color, markersize=4)
    axes.set_yticks(range(len(order)), [_name(each.method) for each in order])
    axes.set(xlabel="interquartile mean of scores", ylim=(-0.6, len(order) - 0.4))
    return figure


def _improvement(plots: Any, found: Aggregates) -> Any:
    """A heat map of P(row > column)."""
    methods = list(dict.fromkeys(each.better for each in found.improvements))
    chances = np.full((len(methods), len(methods)), np.nan)
    for each in found.improvements:
        chances[methods.index(each.better), methods.index(each.worse)] = each.chance.value
    side = max(2.2, 0.36 * len(methods) + 1.2)
    figure, axes = plots.subplots(figsize=(max(COLUMN, side), side), layout="constrained")
    colors = require("matplotlib.colors").LinearSegmentedColormap.from_list("sides", SIDES)
    axes.imshow(chances, cmap=colors, vmin=0, vmax=1)
    for row, column in np.argwhere(np.isfinite(chances)):
        value = chances[row, column]
        color = "white" if abs(value - 0.5) > 0.3 else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=color, fontsize=6)
    names = [_name(method) for method in methods]
    axes.set_xticks(range(len(methods)), names, rotation=90)
    axes.set_yticks(range(len(methods)), names)
    axes.set(title="P(row > column)")
    axes.grid(False)
    return figure


def _legend(figure: Any, lines: dict[str, Any]) -> None:
    names = [_name(method) for method in lines]
    columns = min(len(names), 2 if figure.get_figwidth() <= COLUMN else 4)
    place = {"loc": "outside lower center", "ncols": columns, "frameon": False}
    figure.legend(list(lines.values()), names, **place)


def _name(text: str) -> str:
    """A name that fits, as it is."""
    return verbatim(short(text))
