"""Tables of the page: texts to show and values to sort by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from countmorl.reports.aggregates import Aggregates
from countmorl.reports.beside import Pair
from countmorl.reports.costs import Cost, Counted
from countmorl.reports.facts import RunFacts
from countmorl.reports.groups import Study
from countmorl.reports.published import Number
from countmorl.reports.scores import Cell, ScoreTable
from countmorl.reports.statistics import Interval
from countmorl.reports.texts import number, plain
from countmorl.runs.records import Measure


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One cell: what is shown, and what rows are sorted by."""

    text: str
    sort: float | None = None
    """None sorts by the text."""
    small: str = ""
    """Said behind it in small letters."""
    bold: bool = False
    numeric: bool = False


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table that sorts by a click on a header."""

    name: str
    """What the table is, for those who cannot see it."""
    heads: tuple[str, ...]
    rows: tuple[tuple[Shown, ...], ...]


def grid(name: str, heads: Sequence[str], rows: Sequence[Sequence[Shown]]) -> Grid:
    """A table of its parts."""
    return Grid(name=name, heads=tuple(heads), rows=tuple(map(tuple, rows)))


def words(text: str, *, bold: bool = False) -> Shown:
    """A cell of text."""
    return Shown(text=text, bold=bold)


def amount(value: float | None, form: str = ".1f", unit: str = "") -> Shown:
    """A cell with a number, or a dash where there is none."""
    if value is None:
        return Shown(text="-", numeric=True)
    return Shown(text=f"{value:{form}}{unit}", sort=float(value), numeric=True)


def score_grid(table: ScoreTable) -> Grid:
    """Datasets down, methods across, as in the paper; seeds are told where they are not all one."""
    alike = table.seeds is not None

    def shown(method: str, data: str) -> Shown:
        return _score(table.cells.get((method, data)), table.measure, seeds=not alike)

    def log(data: str) -> list[Shown]:
        form = ".4g" if table.measure == "value" else ".1f"
        return [amount(table.log.get(data), form)] if table.log else []

    rows = [
        [words(data), *log(data), *(shown(m, data) for m in table.methods)] for data in table.data
    ]
    heads = ["data", *(["the log"] if table.log else []), *table.methods]
    return grid(f"{table.measure}, {table.title}", heads, rows)


def _score(cell: Cell | None, measure: Measure, *, seeds: bool = True) -> Shown:
    if cell is None:
        return amount(None)
    count = len(cell.values)
    told = f"{count} seed{'s' if count > 1 else ''}" if seeds else ""
    marks = ("†" if cell.unfinished else "") + ("‡" if cell.kept_log else "")
    small = f"{told} {marks}".strip()
    text = plain(cell, measure)
    return Shown(text=text, sort=cell.mean, small=small, bold=cell.bold, numeric=True)


def paper_grid(pairs: Sequence[Pair]) -> Grid:
    """Ours beside the paper's tables."""
    heads = ["data", "method", "ours", "paper", "difference", "same estimate", "same d"]
    rows = [
        [
            words(pair.data),
            words(pair.method),
            replace(_score(pair.ours, "score"), bold=False),  # Bold is the best of ours.
            _published(pair.main, "v0 data" if pair.old_data else ""),
            amount(pair.ours.mean - pair.main.mean if pair.main else None, "+.1f"),
            _published(pair.estimate),
            _published(pair.dimension),
        ]
        for pair in pairs
    ]
    return grid("Ours beside the paper's", heads, rows)


def _published(told: Number | None, small: str = "") -> Shown:
    if told is None:
        return amount(None)
    text = number(told.mean) + ("" if told.spread is None else f" ± {number(told.spread)}")
    return Shown(text=text, sort=told.mean, small=small, numeric=True)


def overall_grid(aggregates: Aggregates) -> Grid:
    """What is said of each method over tasks."""
    rows = [
        [words(e.method), _interval(e.iqm), _interval(e.median), _interval(e.mean), _count(e.runs)]
        for e in aggregates.overall
    ]
    heads = ["method", "interquartile mean", "median of tasks", "mean of tasks", "runs"]
    return grid("Over tasks", heads, rows)


def improvement_grid(aggregates: Aggregates) -> Grid:
    """Every pair of methods."""
    rows = [
        [words(e.better), words(e.worse), _interval(e.chance, ".2f"), _count(e.tasks)]
        for e in aggregates.improvements
    ]
    return grid("Probability of improvement", ["X", "Y", "P(X > Y)", "tasks"], rows)


def _interval(interval: Interval, form: str = ".1f") -> Shown:
    shown = f"{interval.value:{form}}"
    small = "" if interval.low is None else f"[{interval.low:{form}}, {interval.high:{form}}]"
    return Shown(text=shown, sort=interval.value, small=small, numeric=True)


def cost_grid(rows: Sequence[Cost]) -> Grid:
    """Time and memory."""
    heads = ["method", "runs", "hours", "of them policy", "per run, min", "compiling, s"]
    heads += ["updates/s", "peak memory, GB"]
    return grid("Time and memory", heads, [_cost(row) for row in rows])


def _cost(row: Cost) -> list[Shown]:
    memory = None if row.peak_memory is None else row.peak_memory / 1e9
    return [
        words(row.method),
        _count(row.runs),
        amount(row.seconds / 3600, ".2f"),
        amount(row.policy_seconds / 3600, ".2f"),
        amount(row.seconds / 60 / max(1, row.runs)),
        amount(row.compile_seconds, ".0f"),
        amount(row.updates_per_second, ".0f"),
        amount(memory, ".2f"),
    ]


def counted_grid(rows: Sequence[Counted]) -> Grid:
    """What those that count have counted."""
    heads = ["method", "data", "rows per code", "unseen, %", "typical count"]
    heads += ["rank correlation", "verdict"]
    return grid(
        "Counts",
        heads,
        [
            [
                words(row.method),
                words(row.data),
                amount(row.rows_per_code),
                amount(None if row.unseen is None else 100 * row.unseen),
                amount(row.typical_count),
                amount(row.rank_correlation, ".2f"),
                words(row.verdict),
            ]
            for row in rows
        ],
    )


def method_grid(study: Study) -> Grid:
    """The methods, with how much was run of each."""
    rows = []
    for method in study.methods:
        runs = study.of_method(method)
        algorithms = sorted({run.manifest.algorithm for run in runs})
        finished = sum(run.summary.finished for run in runs)
        data, seeds = {run.data for run in runs}, sorted({run.seed for run in runs})
        said = Shown(text=", ".join(map(str, seeds)), sort=float(len(seeds)))
        row = [words(method), words(", ".join(algorithms)), _count(len(data)), said]
        rows.append([*row, _count(len(runs)), _count(finished)])
    return grid("Methods", ["method", "algorithm", "data", "seeds", "runs", "finished"], rows)


def data_grid(study: Study) -> Grid:
    """The datasets, with their hashes."""
    rows = []
    for data in study.data:
        cells = {m: runs for (m, label), runs in study.cells.items() if label == data.label}
        row = [words(data.label), words(data.hash[:12]), _count(len(cells))]
        rows.append([*row, _count(sum(map(len, cells.values())))])
    return grid("Data", ["data", "hash", "methods", "runs"], rows)


def run_grid(study: Study, last: int) -> Grid:
    """Every run."""
    rows = [
        [words(run.summary.run), words(method), words(data), _count(run.seed), *_ending(run)]
        for (method, data), runs in study.cells.items()
        for run in runs
    ]
    heads = ["folder", "method", "data", "seed", "epochs", "state", "judged by", f"last {last}"]
    return grid("Runs", [*heads, "best"], rows)


def _ending(run: RunFacts) -> list[Shown]:
    facts = run.summary
    return [
        _count(facts.epochs),
        words("finished" if facts.finished else f"unfinished, {run.progress}"),
        words(facts.measure or "nothing"),
        _judged(facts.mean, facts.measure),
        _judged(max(facts.values, default=None), facts.measure),
    ]


def _judged(value: float | None, measure: Measure | None) -> Shown:
    return amount(value, ".4g" if measure == "value" else ".1f")


def _count(value: int) -> Shown:
    return amount(value, "d")
