"""Figures of one run's page, as the plain JSON that Plotly's script draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from countmorl.reports.charts import Figure, literal
from countmorl.runs.calibration import Calibration

INK, RED, GREY = "#1f4e79", "#b5482a", "#8a8378"
LEVELS = {"unseen": RED, "thin": "#d9b48a", "covered": "#9dc3e6"}
HEIGHT = 320


def shares_by_step(ways: Sequence[Mapping[str, Any]]) -> Figure:
    """Shares of a policy's imagined pairs by step, and a clone's unseen ones beside them."""
    policy, clone = ways[0], ways[-1]
    steps = list(range(1, len(policy["by_step"]) + 1))
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": steps,
            "y": [100 * each[level] for each in policy["by_step"]],
            "name": level,
            "stackgroup": "levels",
            "line": {"color": color, "width": 0},
            "fillcolor": color,
            "hovertemplate": "%{y:.1f} %",
        }
        for level, color in LEVELS.items()
    ]
    other = [100 * each["unseen"] for each in clone["by_step"]]
    traces.append(
        _line("a clone's unseen", list(range(1, len(other) + 1)), other, INK, dash="dash")
    )
    return _figure(traces, "step of the imagined rollout", "pairs, %", yaxis={"range": [0, 100]})


def error_by_count(calibration: Calibration) -> Figure:
    """Held-out error of the model over the count, with two standard errors."""
    bins = calibration.bins
    trace = _line("error", [each.count for each in bins], [each.error for each in bins], INK)
    reach = {"type": "data", "array": [2 * each.error_se for each in bins]}
    trace |= {"mode": "lines+markers", "error_y": reach | {"color": INK, "thickness": 1.5}}
    return _figure([trace], "count of the pair", "held-out error of the model")


def guard_rates(points: Sequence[Mapping[str, Any]]) -> Figure:
    """How often the fall-back acts, over the threshold."""
    guarded = [point for point in points if point["name"] == "guarded"]
    traces = []
    for field, label, color in (
        ("held_out", "the log's own pairs (false alarms)", GREY),
        ("at_logged", "the policy at logged states", INK),
        ("imagined", "imagined rollouts", RED),
    ):
        known = [each for each in guarded if each[field] is not None]
        if known:
            y = [100 * each[field] for each in known]
            traces.append(_marked(label, [each["threshold"] for each in known], y, color))
    below = {"range": [0, 102]}
    return _figure(traces, "threshold: logged pairs", "fall-back acts, % of steps", yaxis=below)


def guard_values(points: Sequence[Mapping[str, Any]]) -> Figure:
    """What the guarded policy is worth in the model, over the threshold."""
    known = [p for p in points if p["value"] is not None]
    guarded = [p for p in known if p["name"] == "guarded"]
    if not guarded:
        return _figure([], "", "")
    thresholds = [p["threshold"] for p in guarded]
    trace = _marked("guarded", thresholds, [p["value"] for p in guarded], INK)
    if all(p["interval"] for p in guarded):
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [p["interval"][1] - p["value"] for p in guarded],
            "arrayminus": [p["value"] - p["interval"][0] for p in guarded],
            "color": INK,
            "thickness": 1,
        }
    ends = [min(thresholds), max(thresholds)]
    traces = [trace]
    for point in known:
        if point["name"] != "guarded":
            dash = "dash" if point["name"] == "unguarded" else "dot"
            traces.append(_line(point["name"], ends, [point["value"]] * 2, RED, dash=dash))
    return _figure(traces, "threshold: logged pairs", "value in the model")


def _line(name: str, x: Sequence[float], y: Sequence[float], color: str, dash: str = "") -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(x),
        "y": list(y),
        "name": literal(name),
        "line": {"color": color, "dash": dash or "solid", "width": 2},
        "hovertemplate": "%{y:.4g}",
    }


def _marked(name: str, x: Sequence[float], y: Sequence[float], color: str) -> Figure:
    return _line(name, x, y, color) | {"mode": "lines+markers", "marker": {"color": color}}


def _figure(traces: list[Figure], across: str, down: str, **layout: Any) -> Figure:
    axes = {
        "xaxis": {"title": {"text": across}, "automargin": True, "zeroline": False},
        "yaxis": {
            "title": {"text": down},
            "automargin": True,
            "zeroline": False,
            **layout.pop("yaxis", {}),
        },
    }
    return {
        "data": traces,
        "layout": {
            "height": HEIGHT + 20 * len(traces),
            "margin": {"l": 56, "r": 12, "t": 12, "b": 44},
            "hovermode": "closest",
            "dragmode": False,
            "showlegend": len(traces) > 1,
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
            **axes,
            **layout,
        },
    }
