"""Tables of one run's page: its log, its coverage, its guard, what a monitor compares with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from countmorl.reports.page_tables import Grid, Shown, amount, grid, words
from countmorl.runs.calibration import Calibration

Values = Mapping[str, Any]
STEPS = (1, 2, 5, 10, 20, 50)
"""Steps of imagined rollouts that are told."""
PARTS = {
    "seen": "observation",
    "done": "action",
    "paid": "reward",
    "followed": "what follows a step",
    "counted": "how often the pair was logged",
}


def column_grid(columns: Sequence[Values]) -> Grid:
    """Every column of the log with its range."""
    heads = ["column", "part", "unit", "least", "5 %", "median", "95 %", "greatest", "distinct"]
    rows = [
        [
            words(each["name"]),
            words(each["part"]),
            words(each["unit"] or "-"),
            *(amount(value, ".4g") for value in _rounded(each["quantiles"])),
            amount(each["distinct"], ",d"),
        ]
        for each in columns
    ]
    return grid("Columns of the log", heads, rows)


def density_grid(density: Values) -> Grid:
    """How dense the log is."""
    by = {"codes": "codes of the run", "pairs": "equal pairs", "neighbours": "distances"}
    rows = [("rows", f"{density['rows']:,}"), ("counted by", by[density["counted_by"]])]
    if density["counted_by"] != "neighbours":
        rows.append(("distinct", f"{density['places']:,}"))
        rows.append(("rows of each", f"{density['rows_per_place']:.1f}"))
        rows.append(("with a single row", _share(density["once"])))
    whose = "episodes set aside" if density["held_out"] else "the log's own rows"
    rows += [(f"count, {q} quantile", f"{v:.4g}") for q, v in density["quantiles"].items()]
    rows += [(f"{level}, of {whose}", _share(v)) for level, v in density["shares"].items()]
    return _facts("How dense the log is", rows)


def region_grid(untried: Sequence[Values], situations: Sequence[Values]) -> Grid:
    """Ranges that are common and hardly ever came together."""
    rows = [
        [words(each["region"]), words(kind), amount(each["rows"], ",d"), _rows(each["expected"])]
        for kind, regions in (("a decision", untried), ("a situation", situations))
        for each in regions
    ]
    return grid("Hardly ever logged", ["region", "what", "rows", "rows expected"], rows)


def way_grid(ways: Sequence[Values]) -> Grid:
    """Shares of each policy's imagined pairs."""
    heads = ["policy", "unseen", "thin", "covered", "rollouts that leave the data"]
    rows = [
        [
            words(each["name"]),
            *(_percent(each["shares"][level]) for level in ("unseen", "thin", "covered")),
            _percent(each["left"]),
        ]
        for each in ways
    ]
    return grid("Where policies go", heads, rows)


def way_out_grid(ways: Sequence[Values]) -> Grid:
    """By which columns the policy leaves the data."""
    rows = [
        [words(each["text"]), _percent(each["share"]), amount(each["step"], "d")] for each in ways
    ]
    return grid("Ways out", ["way", "rollouts", "typical step"], rows)


def wanted_grid(wanted: Sequence[Values]) -> Grid:
    """What to log next."""
    heads = ["region", "reached by", "value", "usual there", "logged rows", "rows like it"]
    rows = [
        [
            words(each["text"]),
            _percent(each["reached"]),
            amount(each["value"], ".4g"),
            amount(each["usual"], ".4g"),
            amount(each["rows"], ",d"),
            words("; ".join(map(_example, each["examples"]))),
        ]
        for each in wanted
    ]
    return grid("What to log next", heads, rows)


def calibration_grid(found: Calibration) -> Grid:
    """What counts notice, from near to far."""
    swapped = found.swapped_actions
    rows = [
        [
            words("actions of other rows"),
            amount(swapped.median_count, ".4g"),
            amount(None),
            _percent(swapped.told_apart),
        ]
    ]
    for each in found.jolted:
        rows.append(
            [
                words(f"{each.of} moved by {each.noise:g} deviations"),
                amount(each.median_count, ".4g"),
                _percent(each.unseen),
                _percent(each.told_apart),
            ]
        )
    heads = ["pairs", "median count", "unseen", "told apart from held-out pairs"]
    return grid("What counts notice", heads, rows)


def guard_grid(points: Sequence[Values], chosen: Values) -> Grid:
    """The trade-off of the guard: what it costs, what is kept."""
    played = any(each["played"] for each in points)
    heads = ["guard", "false alarms", "threshold", "at logged states", "imagined"]
    heads += ["value in the model", "95 % interval", "way unseen"]
    heads += ["simulated", "acted there"] if played else []
    rows = []
    for each in points:
        own = each["name"] == "guarded" and each["threshold"] == chosen["threshold"]
        reach = each["interval"]
        row = [
            words(f"{each['name']}{', chosen' if own else ''}", bold=own),
            _percent(each["held_out"]),
            amount(each["threshold"], ".4g"),
            _percent(each["at_logged"]),
            _percent(each["imagined"]),
            amount(each["value"], ".4g"),
            words("-" if reach is None else f"{reach[0]:.4g} to {reach[1]:.4g}"),
            _percent(each["way_cut"]),
        ]
        rows.append(row + (_played(each["played"]) if played else []))
    return grid("The guard's trade-off", heads, rows)


def watch_grid(card: Values) -> Grid:
    """What a monitor compares with, and by how much a share must move to be an alarm."""
    sizes = list(card["reward_noticed"])
    heads = ["column", "part", "least", "greatest", "middle", "rows at or below it"]
    heads += [f"{size} episodes" for size in sizes]
    rows = [
        [
            words(each["name"]),
            words(PARTS[each["part"]]),
            *(amount(v, ".4g") for v in _rounded([each["low"], each["high"], each["at"]])),
            _percent(each["share"]),
            *(_points(each["noticed"][size]) for size in sizes),
        ]
        for each in card["columns"]
    ]
    return grid("What a monitor compares with", heads, rows)


def _facts(name: str, rows: Sequence[tuple[str, str]]) -> Grid:
    return grid(name, ["what", "value"], [[words(a), words(b)] for a, b in rows])


def _rounded(values: Sequence[float]) -> list[float]:
    """Values of one column; what is nothing but the rounding of the largest is 0."""
    least = 1e-9 * max(map(abs, values))
    return [0.0 if abs(each) <= least else each for each in values]


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _percent(value: float | None) -> Shown:
    return amount(None if value is None else 100 * value, ".1f", " %")


def _points(move: float) -> Shown:
    """A move of a share; one of more than all rows cannot come."""
    return amount(None) if move >= 1 else amount(100 * move, ".0f", " points")


def _rows(expected: float) -> Shown:
    return amount(expected, ",.0f")


def _example(each: Values) -> str:
    told = ", ".join(f"{name} {value}" for name, value in each["columns"].items())
    return f"row {each['row']:,} ({told})"


def _played(game: Values | None) -> list[Shown]:
    if game is None:
        return [amount(None), amount(None)]
    earned = game["returns"] if game["score"] is None else game["score"]
    return [amount(earned, ".4g"), _percent(game["rate"])]
