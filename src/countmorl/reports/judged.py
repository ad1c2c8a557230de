"""Judgements as tables and figures, for the pages of `countmorl auto` and of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from countmorl.reports import page_tables as grids
from countmorl.reports.charts import Figure, literal, short
from countmorl.reports.compare import COLORS
from countmorl.reports.page_tables import Grid, Shown, amount, words

UNSEEN, THIN = "#b5482a", "#d9b48a"
SPACE = 30
"""Height of one policy in a figure."""


def log_grid(data: Mapping[str, Any]) -> Grid:
    """The log in a few lines."""
    kind = f"{data['action']} choices" if data["discrete"] else _numbers(data["action"])
    rows = [
        ("rows", f"{data['rows']:,}"),
        ("episodes", f"{data['episodes']:,}"),
        ("observation", _numbers(data["obs"])),
        ("action", kind),
        ("steps that end the task", f"{data['terminated']:,}"),
        ("reward of a step", _spread(data["rewards"])),
        ("return of an episode", _spread(data["returns"])),
        ("steps of an episode", _spread(data["lengths"])),
    ]
    return grids.grid("The log", ["what", "value"], [[words(a), words(b)] for a, b in rows])


def _numbers(count: int) -> str:
    return f"{count} number{'s' if count != 1 else ''}"


def _spread(values: Sequence[float]) -> str:
    low, middle, mean, high = (f"{each or 0.0:.4g}" for each in values)  # No -0.
    return f"{low} to {high}, median {middle}, mean {mean}"


def opinion_grid(judged: Sequence[Mapping[str, Any]]) -> Grid:
    """What every estimator says of every policy, the log first."""
    heads = ["policy", "estimator", "value", "95 % interval", "gain on the log"]
    rows = []
    if judged:
        rows.append([words("the log"), words("behaviour"), *_opinion(judged[0]["behaviour"])])
    for each in judged:
        for name, opinion in each["opinions"].items():
            rows.append([words(each["name"]), words(name), *_opinion(opinion)])
    return grids.grid("What each estimator says", heads, rows)


def _opinion(opinion: Mapping[str, Any]) -> list[Shown]:
    if "refused" in opinion:
        return [amount(None), words("-"), words("refused")]
    reach, facts = opinion["interval"], opinion["facts"]
    gain = words("-")
    if "gain" in facts:
        gain = words(f"{facts['gain_low']:+.4g} to {facts['gain_high']:+.4g}")
    interval = words("-" if reach is None else f"{reach[0]:.4g} to {reach[1]:.4g}")
    return [amount(opinion["value"], ".4g"), interval, gain]


def refusals(judged: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why an estimator gave no number, each reason with those whom it concerns."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in judged:
        for name, opinion in each["opinions"].items():
            if "refused" in opinion:
                found.setdefault((name, opinion["refused"]), []).append(each["name"])
    return [
        f"{name} gives no number of {', '.join(whom) if len(whom) < 5 else f'{len(whom)} policies'}"
        f": {why}"
        for (name, why), whom in found.items()
    ]


def gains(judged: Sequence[Mapping[str, Any]]) -> Figure:
    """Every estimator's gain with its interval, a line for each policy, the best on top."""
    names = [each["name"] for each in reversed(judged)]
    found: dict[str, list[tuple[int, Mapping[str, float]]]] = {}
    for place, each in enumerate(reversed(judged)):
        for name, opinion in each["opinions"].items():
            if "gain" in opinion.get("facts", {}) and "refused" not in opinion:
                found.setdefault(name, []).append((place, opinion["facts"]))
    traces = []
    for number, (name, points) in enumerate(found.items()):
        color, moved = COLORS[number % len(COLORS)], 0.24 * (number - (len(found) - 1) / 2)
        gains = [facts["gain"] for _, facts in points]
        above = [facts["gain_high"] - facts["gain"] for _, facts in points]
        below = [facts["gain"] - facts["gain_low"] for _, facts in points]
        reach = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": gains,
                "y": [place + moved for place, _ in points],
                "name": literal(name),
                "marker": {"color": color, "size": 8},
                "error_x": reach | {"color": color, "thickness": 1.5, "width": 3},
                "hovertemplate": "%{x:.4g}",
            }
        )
    across = {"title": {"text": "gain on the log"}, "zeroline": True, "zerolinewidth": 2}
    return _figure(traces, names, across, showlegend=True)


def way_shares(judged: Sequence[Mapping[str, Any]]) -> Figure:
    """How much of each policy's way was never logged, or hardly."""
    names = [each["name"] for each in reversed(judged)]
    unseen = [100 * each["unseen"] for each in reversed(judged)]
    thin = [max(0.0, 100 * (each["thin"] - each["unseen"])) for each in reversed(judged)]
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "x": values,
            "y": list(range(len(names))),
            "name": name,
            "marker": {"color": color},
            "hovertemplate": "%{x:.1f} %",
        }
        for name, values, color in (("never logged", unseen, UNSEEN), ("hardly", thin, THIN))
    ]
    across = {"title": {"text": "share of its way, %"}, "range": [0, 100]}
    return _figure(traces, names, across, showlegend=True, barmode="stack")


def _figure(traces: list[Any], names: list[str], across: Figure, **layout: Any) -> Figure:
    ticks = [literal(short(name, 34)) for name in names]
    down = {
        "tickvals": list(range(len(names))),
        "ticktext": ticks,
        "range": [-0.6, len(names) - 0.4],
    }
    return {
        "data": traces,
        "layout": {
            "height": 120 + SPACE * len(names),
            "margin": {"l": 56, "r": 12, "t": 12, "b": 44},
            "hovermode": "closest",
            "dragmode": False,
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
            "xaxis": {"automargin": True, "zeroline": False, **across},
            "yaxis": {"automargin": True, "zeroline": False, "showgrid": False, **down},
            **layout,
        },
    }
