"""`beside`: the paper's numbers next to ours, where both are of the same data and protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from countmorl.reports.facts import RunFacts
from countmorl.reports.groups import Data, Study
from countmorl.reports.published import (
    DIMENSION_ESTIMATES,
    DIMENSIONS,
    ESTIMATES,
    LAST,
    MAIN,
    OLDER,
    SEEDS,
    Number,
    d4rl_name,
)
from countmorl.reports.scores import Cell, ScoreTable

TUNED = (
    "The paper's Count-MORL is the best of the estimates LC, AVG and UC on each dataset, with the "
    "horizon, beta and d tuned per dataset in the simulator."
)
OLD_DATA = (
    "The paper's columns RepB-SDE, MOReL and BC are of v0 data, although it says v2: the first two "
    "were copied from papers that used v0, and BC's 111.9 on hopper-medium-expert is what only the "
    "v0 file gives."
)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One method on one dataset: ours, and the paper's tables."""

    data: str
    method: str
    ours: Cell
    main: Number | None
    """Table 1, or the table of v0."""
    old_data: bool
    """Whether that number is of v0 data while ours is of v2."""
    estimate: Number | None
    """Count-MORL with our estimate."""
    dimension: Number | None
    """Count-MORL with our code length, where our estimate is that table's."""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Pairs of numbers, and what a reader must know of them."""

    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


def beside(study: Study, table: ScoreTable | None, last: int) -> Beside:
    """Put the paper's numbers beside a table of scores by the last evaluations."""
    if table is None or table.protocol != "last" or last != LAST:
        return Beside(pairs=(), notes=(_other_protocol(),))
    known = [data for data in study.data if data.label in table.data and _is_whole(study, data)]
    pairs = [
        pair
        for data in known
        for method in table.methods
        for pair in _pair(study, table, method, data)
    ]
    foreign = [label for label in table.data if label not in {data.label for data in known}]
    return Beside(pairs=tuple(pairs), notes=tuple(_notes(pairs, foreign)))


def _is_whole(study: Study, data: Data) -> bool:
    """Whether the data are D4RL's by name, and no part of them."""
    runs = [run for (_, label), some in study.cells.items() if label == data.label for run in some]
    origins = [run.manifest.data for run in runs if run.manifest.data]
    return d4rl_name(data.name) is not None and all(o.options.rows is None for o in origins)


def _pair(study: Study, table: ScoreTable, method: str, data: Data) -> list[Pair]:
    cell, name = table.cells.get((method, data.label)), d4rl_name(data.name)
    if cell is None or name is None:
        return []
    runs = study.cells[method, data.label]
    algorithm = runs[0].manifest.algorithm
    estimate = _setting(runs, "estimate") if algorithm == "count-morl" else None
    bits = _setting(runs, "codes.bits") if algorithm == "count-morl" else None
    same = estimate is not None and DIMENSION_ESTIMATES.get(name) == estimate
    pair = Pair(
        data=data.label,
        method=method,
        ours=cell,
        main=MAIN[name].get(algorithm),
        old_data=name.endswith("-v2") and algorithm in OLDER,
        estimate=ESTIMATES.get(name, {}).get(estimate or ""),
        dimension=DIMENSIONS.get(name, {}).get(bits or "") if same else None,
    )
    return [pair] if pair.main or pair.estimate or pair.dimension else []


def _setting(runs: Sequence[RunFacts], name: str) -> str | None:
    """A setting's value, where all runs agree on it."""
    found = {str(run.manifest.flat_config.get(name)) for run in runs}
    return found.pop() if len(found) == 1 else None


def _notes(pairs: Sequence[Pair], foreign: Sequence[str]) -> list[str]:
    notes = []
    if foreign:
        notes.append(
            f"The paper's numbers are not put beside ours on {', '.join(foreign)}: these are not "
            "D4RL's own data by name, or not all of their rows, so the scores cannot be compared."
        )
    if any(pair.main and pair.estimate for pair in pairs):
        notes.append(TUNED)
    if any(pair.old_data for pair in pairs):
        notes.append(OLD_DATA)
    few = {len(pair.ours.values) for pair in pairs if len(pair.ours.values) < SEEDS}
    if few:
        least = min(few)
        many = f"as few as {least} seed{'s' if least > 1 else ''}"
        notes.append(f"The paper has five seeds per number; ours here have {many}.")
    return notes


def _other_protocol() -> str:
    return (
        "The paper's numbers are not put beside ours: they are scores, the mean of the last five "
        "evaluations, and there are none such here."
    )
