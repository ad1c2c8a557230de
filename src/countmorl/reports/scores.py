"""`ScoreTable`: methods on data, one table for each measure and protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from countmorl.reports.facts import RunFacts
from countmorl.reports.groups import Study
from countmorl.reports.protocols import PROTOCOLS, Protocol
from countmorl.runs.records import Measure

MEASURES: tuple[Measure, ...] = ("score", "return", "value")
CLOSE = 0.02
"""What is within this share of the best is bold, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One method on one dataset, by one protocol."""

    values: tuple[float, ...]
    """One number per seed."""
    seeds: tuple[int, ...]
    unfinished: int
    """Runs among them that have not ended."""
    kept_log: int = 0
    """Seeds among them for which nothing was shown to be better than the log."""
    bold: bool
    """Whether it is within two per cent of the best on these data, where there are others."""

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return fmean(self.values)

    @property
    def spread(self) -> float | None:
        """Standard deviation over seeds (n - 1); None of one seed."""
        return stdev(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """Methods on data by one measure and protocol."""

    measure: Measure
    protocol: str
    """Its name in `PROTOCOLS`."""
    title: str
    about: str
    peeks: bool
    methods: tuple[str, ...]
    data: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    """By method and data; pairs that were not run are missing."""
    log: Mapping[str, float]
    """What each log itself has, by data, where it is known."""

    @property
    def seeds(self) -> int | None:
        """How many seeds every cell has; None where they have different numbers of them."""
        counts = {len(cell.values) for cell in self.cells.values()}
        return counts.pop() if len(counts) == 1 else None


def score_tables(study: Study, last: int) -> list[ScoreTable]:
    """Every table that some run has a number for: measures apart, protocols beside each other."""
    made = [
        _table(study, measure, name, PROTOCOLS[name], last)
        for measure in MEASURES
        for name in PROTOCOLS
    ]
    return [table for table in made if table.cells]


def _table(study: Study, measure: Measure, name: str, protocol: Protocol, last: int) -> ScoreTable:
    cells: dict[tuple[str, str], Cell] = {}
    columns = (protocol.title,) if protocol.across else study.methods
    for data in study.data:
        runs = {method: study.cells.get((method, data.label), ()) for method in study.methods}
        judged = {
            method: [run for run in some if run.measure == measure] for method, some in runs.items()
        }
        if protocol.across:
            column = {
                protocol.title: _across([r for some in judged.values() for r in some], protocol)
            }
        else:
            column = {method: _cell(some, protocol) for method, some in judged.items()}
        cells |= {(m, data.label): cell for m, cell in _marked(column).items()}
    title, about = protocol.named(last)
    return ScoreTable(
        measure=measure,
        protocol=name,
        title=title,
        about=about,
        peeks=protocol.peeks,
        methods=tuple(m for m in columns if any(m == cell[0] for cell in cells)),
        data=tuple(d.label for d in study.data if any(d.label == cell[1] for cell in cells)),
        cells=cells,
        log=_logs(study, measure),
    )


def _logs(study: Study, measure: Measure) -> dict[str, float]:
    """What has to be beaten: the runs of one dataset all tell the same."""
    runs = [(cell[1], run) for cell, some in study.cells.items() for run in some]
    return {
        data: run.summary.log
        for data, run in runs
        if run.summary.log is not None and run.measure == measure
    }


def _cell(runs: Sequence[RunFacts], protocol: Protocol) -> Cell | None:
    valued = [(run, value) for run in runs if (value := protocol.value(run)) is not None]
    if not valued:
        return None
    return Cell(
        values=tuple(value for _, value in valued),
        seeds=tuple(run.seed for run, _ in valued),
        unfinished=sum(not run.summary.finished for run, _ in valued),
        bold=False,
    )


def _across(runs: Sequence[RunFacts], protocol: Protocol) -> Cell | None:
    """One number for each seed, of whichever method it is."""
    valued: dict[int, tuple[RunFacts, float]] = {}
    for run in runs:
        if (value := protocol.value(run)) is not None:
            valued.setdefault(run.seed, (run, value))
    if not valued:
        return None
    found = [valued[seed] for seed in sorted(valued)]
    return Cell(
        values=tuple(value for _, value in found),
        seeds=tuple(sorted(valued)),
        unfinished=sum(not run.summary.finished for run, _ in found),
        kept_log=sum(bool(run.choice and run.choice.kept_log) for run, _ in found),
        bold=False,
    )


def _marked(column: Mapping[str, Cell | None]) -> dict[str, Cell]:
    """The cells that are there, with the best of several marked."""
    there = {method: cell for method, cell in column.items() if cell is not None}
    best = max((cell.mean for cell in there.values()), default=0.0)
    least = best - CLOSE * abs(best)
    return {
        method: replace(cell, bold=len(there) > 1 and cell.mean >= least)
        for method, cell in there.items()
    }
