"""Estimates against the truth, a panel for each estimator, every log in its own colour."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from countmorl.evaluation.base import Estimate
from countmorl.studies.drawing import drawn, verbatim
from countmorl.studies.judging_records import Field, Tried
from countmorl.studies.judging_tables import ESTIMATORS

COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"),
    *("#56b4e9", "#000000", "#999933", "#882255", "#44aa99", "#117733", "#aa4499"),
)
COLUMNS = 3
EDGE = 1.6
"""How far from chance (0) and the best policy (1) is still drawn where it is."""


def estimates_figure(fields: Sequence[Field], path: Path) -> None:
    """Draw every estimate with its interval; 0 is what chance earns, 1 the best of log and pool."""
    names = [name for name in ESTIMATORS if any(_said(t, name) for f in fields for t in f.tried)]
    rows = -(-(len(names) + 1) // COLUMNS)
    with drawn(path, rows, COLUMNS, (10.5, 3.5 * rows)) as (figure, axes):
        panels = axes.reshape(-1)
        for axis, name in zip(panels, [*names, "verdict"], strict=False):
            for place, field in enumerate(fields):
                _panel(axis, field, name, COLOURS[place % len(COLOURS)])
            _frame(axis, name)
        for axis in panels[len(names) + 1 :]:
            axis.axis("off")
        handles, labels = panels[0].get_legend_handles_labels()
        legend = figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7)
        verbatim(legend)


def _panel(axis: Any, field: Field, name: str, colour: str) -> None:
    low = field.log.chance.value
    best = max(field.log.value, *(each.truth.value for each in field.tried))
    scaled = lambda value: min(max((value - low) / (best - low or 1), -EDGE), 1 + EDGE)  # noqa: E731
    label = f"{field.name}{' (development)' if field.development else ''}"
    for tried in field.tried:
        found = _interval(tried, name, field)
        if found is None:
            continue
        value, reach = found
        at = scaled(tried.truth.value)
        axis.plot(
            [at, at], [scaled(each) for each in reach], color=colour, linewidth=0.8, alpha=0.5
        )
        hollow = name == "verdict" and tried.judgement.verdict != "better"
        face = "none" if hollow else colour
        axis.plot(at, scaled(value), "o", color=colour, markerfacecolor=face, markersize=3.5)
    axis.plot([], [], "o", color=colour, markersize=3.5, label=label)


def _interval(tried: Tried, name: str, field: Field) -> tuple[float, tuple[float, float]] | None:
    if name == "verdict":
        gain = tried.judgement.gain
        if gain is None:
            return None
        low, high = (field.log.value + each for each in gain)
        return (low + high) / 2, (low, high)
    said = _said(tried, name)
    return None if said is None else (said.value, said.interval or (said.value, said.value))


def _said(tried: Tried, name: str) -> Estimate | None:
    found = tried.judgement.opinions.get(name)
    return found if isinstance(found, Estimate) else None


def _frame(axis: Any, name: str) -> None:
    axis.plot([-EDGE, 1 + EDGE], [-EDGE, 1 + EDGE], color="black", linewidth=0.6)
    about = ": filled where called better" if name == "verdict" else ""
    axis.set(xlim=(-0.6, 1.15), ylim=(-EDGE - 0.05, 1.05 + EDGE))
    axis.set(xlabel="truth", ylabel="estimate", title=name + about)
