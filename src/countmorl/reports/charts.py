"""Figures of the page, as the plain JSON that Plotly's script draws."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from countmorl.reports.aggregates import Aggregates, Improvement
from countmorl.reports.compare import COLORS
from countmorl.reports.curves import Curve, Panel
from countmorl.reports.figures import LABELS
from countmorl.reports.statistics import Interval

Figure = dict[str, Any]
DASHES = ("solid", "dash", "dot")
LONGEST = 26
"""Letters of a name that an axis has room for."""
SIDES = [[0.0, "#b5482a"], [0.5, "#f3f0ea"], [1.0, "#1f4e79"]]


def style(methods: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and dash of every method, the same in all figures."""
    found = {}
    for index, method in enumerate(methods):
        again, color = divmod(index, len(COLORS))
        found[method] = (COLORS[color], DASHES[again % len(DASHES)])
    return found


def learning_curves(panel: Panel, styles: dict[str, tuple[str, str]]) -> Figure:
    """Means over seeds by epoch, with a band of one standard deviation where there are seeds."""
    traces: list[Figure] = []
    for curve in panel.curves:
        traces += _curve(curve, *styles[curve.method])
    axes = {"xaxis": {"title": {"text": "epoch"}}, "yaxis": {"title": _title(panel.measure)}}
    return _figure(traces, 330 + _legend_height(len(panel.curves)), **axes)


def profiles(aggregates: Aggregates, styles: dict[str, tuple[str, str]]) -> Figure:
    """Share of runs above tau, with 95 % bands where there are seeds."""
    traces: list[Figure] = []
    for each in aggregates.overall:
        color, dash = styles[each.method]
        found = each.profile
        traces.append(_line(each.method, found.taus, found.shares, color, dash))
        if found.low and found.high:
            traces.append(_band(each.method, found.taus, found.low, found.high, color))
    return _figure(
        traces,
        340 + _legend_height(len(aggregates.overall)),
        xaxis={"title": {"text": "score τ"}},
        yaxis={"title": {"text": "share of runs above τ"}, "range": [-0.02, 1.02]},
    )


def interquartile_means(aggregates: Aggregates, styles: dict[str, tuple[str, str]]) -> Figure:
    """The interquartile mean of every method with its interval, the best on top."""
    order = sorted(aggregates.overall, key=lambda each: each.iqm.value)
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [each.iqm.value],
            "y": [place],
            "name": literal(each.method),
            "marker": {"color": styles[each.method][0], "size": 10},
            "error_x": _whiskers(each.iqm, styles[each.method][0]),
            "hovertemplate": "%{x:.1f}",
            "showlegend": False,
        }
        for place, each in enumerate(order)
    ]
    ticks = _ticks([each.method for each in order])
    axes = {"xaxis": {"title": {"text": "interquartile mean of scores"}}, "yaxis": ticks}
    ticks["range"] = [-0.6, len(order) - 0.4]
    return _figure(traces, 110 + 34 * len(order), **axes, hovermode="closest")


def improvements(aggregates: Aggregates, methods: Sequence[str]) -> Figure:
    """A heat map: the chance that the row's method beats the column's."""
    found = {(each.better, each.worse): each for each in aggregates.improvements}
    pairs = [[found.get((row, column)) for column in methods] for row in methods]
    trace = {
        "type": "heatmap",
        "x": list(range(len(methods))),
        "y": list(range(len(methods))),
        "z": [[each.chance.value if each else None for each in row] for row in pairs],
        "customdata": [[_told(each) for each in row] for row in pairs],
        "zmin": 0,
        "zmax": 1,
        "colorscale": SIDES,
        "texttemplate": "%{z:.2f}",
        "hovertemplate": "%{customdata}<extra></extra>",
        "hoverongaps": False,
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
    }
    turned = len(methods) > 3
    names = 7 * max(len(short(method)) for method in methods) if turned else 20
    across = _ticks(methods) | {"side": "top", "tickangle": -90 if turned else 0}
    down = _ticks(methods) | {"autorange": "reversed"}
    height = 60 + names + 36 * len(methods)
    return _figure([trace], height, xaxis=across, yaxis=down, hovermode="closest")


def literal(text: str) -> str:
    """A name as it is: Plotly reads tags and entities in texts, and formulas between dollars."""
    return escape(text, quote=False).replace("$", "&#36;")


def short(text: str, most: int = LONGEST) -> str:
    """A name that an axis, or whatever has `most` letters' width, has room for."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _curve(curve: Curve, color: str, dash: str) -> list[Figure]:
    name = f"{curve.method} †" if curve.unfinished else curve.method
    line = _line(name, curve.epochs, curve.mean, color, dash, group=curve.method)
    if curve.spread is None:
        return [line]
    low = [m - s for m, s in zip(curve.mean, curve.spread, strict=True)]
    high = [m + s for m, s in zip(curve.mean, curve.spread, strict=True)]
    return [line, _band(curve.method, curve.epochs, low, high, color)]


def _line(
    name: str, x: Sequence[float], y: Sequence[float], color: str, dash: str, group: str = ""
) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines" if len(x) > 1 else "markers",
        "x": list(x),
        "y": _rounded(y),
        "name": literal(name),
        "legendgroup": literal(group or name),
        "line": {"color": color, "dash": dash, "width": 2},
        "hovertemplate": "%{y:.2f}" if max(map(abs, y), default=0.0) <= 1 else "%{y:.1f}",
    }


def _band(
    name: str, x: Sequence[float], low: Sequence[float], high: Sequence[float], color: str
) -> Figure:
    """An area between two lines, which is hidden together with its method's line."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [*x, *reversed(x)],
        "y": _rounded([*high, *reversed(low)]),
        "fill": "toself",
        "fillcolor": f"{color}26",
        "line": {"width": 0},
        "legendgroup": literal(name),
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _whiskers(interval: Interval, color: str) -> Figure:
    if interval.low is None or interval.high is None:
        return {"visible": False}
    return {
        "type": "data",
        "symmetric": False,
        "array": [interval.high - interval.value],
        "arrayminus": [interval.value - interval.low],
        "color": color,
        "thickness": 2,
    }


def _ticks(names: Sequence[str]) -> Figure:
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [literal(short(name)) for name in names],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def _told(each: Improvement | None) -> str:
    if each is None:
        return ""
    chance = each.chance
    interval = "" if chance.low is None else f" [{chance.low:.2f}, {chance.high:.2f}]"
    said = f"P({literal(each.better)} > {literal(each.worse)})"
    return f"{said}<br>= {chance.value:.2f}{interval}, {each.tasks} tasks"


def _title(measure: str) -> Figure:
    return {"text": LABELS[measure]}


def _legend_height(entries: int) -> int:
    return 12 * entries


def _rounded(values: Sequence[float]) -> list[float]:
    """Enough digits for a screen: a page of many runs stays small."""
    return [float(f"{value:.6g}") for value in values]


def _figure(traces: list[Figure], height: int, **layout: Any) -> Figure:
    axes = {"automargin": True, "zeroline": False}
    return {
        "data": traces,
        "layout": {
            "height": height,
            "margin": {"l": 56, "r": 12, "t": 12, "b": 44},
            "hovermode": "x unified",
            "legend": {"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0},
            "dragmode": False,
            **layout,
            "xaxis": axes | layout["xaxis"],
            "yaxis": axes | layout["yaxis"],
        },
    }
