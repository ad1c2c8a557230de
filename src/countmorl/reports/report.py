"""`make_report`: everything that a report says, before it is written in any form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from countmorl.errors import ConfigError
from countmorl.reports.aggregates import Aggregates, aggregate
from countmorl.reports.beside import Beside, beside
from countmorl.reports.groups import Study, group
from countmorl.reports.protocols import find_protocol
from countmorl.reports.scores import ScoreTable, score_tables
from countmorl.reports.search import Found, read_runs
from countmorl.runs.summary import LAST


@dataclass(frozen=True, kw_only=True)
class Report:
    """Runs, grouped and summed up."""

    places: tuple[str, ...]
    last: int
    protocol: str
    """The protocol of text tables and of what is said over tasks."""
    found: Found
    study: Study
    tables: tuple[ScoreTable, ...]
    """One for every measure and protocol."""

    @property
    def chosen(self) -> list[ScoreTable]:
        """The tables of the chosen protocol, one for every measure."""
        return [table for table in self.tables if table.protocol == self.protocol]

    @cached_property
    def aggregates(self) -> Aggregates | None:
        """What is said over tasks; None where nothing was judged by scores."""
        scores = [table for table in self.chosen if table.measure == "score"]
        return aggregate(scores[0]) if scores else None

    @property
    def beside(self) -> Beside:
        """The paper's numbers beside ours."""
        scores = [t for t in self.tables if (t.measure, t.protocol) == ("score", "last")]
        return beside(self.study, scores[0] if scores else None, self.last)

    @property
    def warnings(self) -> list[str]:
        """What could not be read, a sentence each."""
        damaged = [f"{each.path} is left out: {each.sentence}" for each in self.found.damaged]
        return damaged + [f"There is no run in {place}." for place in self.found.empty]

    @property
    def notes(self) -> list[str]:
        """What a reader should know before the tables."""
        return [*self.warnings, *self.study.notes, *_about_runs(self.study, self.last)]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values: tables, aggregates, notes."""
        return {
            "tables": [_table_dict(table) for table in self.tables],
            "aggregates": asdict(self.aggregates) if self.aggregates else None,
            "paper": asdict(self.beside),
            "notes": self.notes,
        }


def make_report(places: Sequence[Path], *, last: int = LAST, protocol: str = "last") -> Report:
    """Read the runs in `places` and sum them up."""
    if last < 1:
        raise ConfigError(f"`last` must be at least 1, got {last}.")
    find_protocol(protocol)
    found = read_runs(places, last)
    study = group(found.methods)
    return Report(
        places=tuple(map(str, places)),
        last=last,
        protocol=protocol,
        found=found,
        study=study,
        tables=tuple(score_tables(study, last)),
    )


def _about_runs(study: Study, last: int) -> list[str]:
    runs, notes = study.runs, []
    unfinished = [run for run in runs if not run.summary.finished]
    if unfinished:
        told = ", ".join(f"{run.summary.name} ({run.progress})" for run in unfinished[:8])
        more = f" and {len(unfinished) - 8} more" if len(unfinished) > 8 else ""
        notes.append(f"Not finished, and marked † where they count: {told}{more}.")
    unjudged = sum(not run.summary.values for run in runs)
    if unjudged:
        notes.append(f"{_runs(unjudged)} never evaluated, so no table has a number of it.")
    short = sum(0 < len(run.summary.values) < last for run in runs)
    if short:
        notes.append(
            f"{_runs(short)} evaluated fewer than {last} times; the mean is over what there is."
        )
    single = [cell for cell, some in study.cells.items() if len(some) == 1]
    if single:
        of = "every method" if len(single) == len(study.cells) else f"{len(single)} of the cells"
        notes.append(
            f"One seed only for {of}: no spread and no interval, so luck cannot be told apart."
        )
    return notes


def _runs(count: int) -> str:
    return "1 run was" if count == 1 else f"{count} runs were"


def _table_dict(table: ScoreTable) -> dict[str, Any]:
    rows = [
        {"method": m, "data": d, **asdict(cell), "mean": cell.mean, "spread": cell.spread}
        for (m, d), cell in table.cells.items()
    ]
    about = {"measure": table.measure, "protocol": table.protocol, "title": table.title}
    return {**about, "about": table.about, "peeks": table.peeks, "cells": rows}
