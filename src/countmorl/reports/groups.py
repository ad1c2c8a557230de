"""`Study`: runs as cells of method x data x seed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from countmorl.reports.facts import RunFacts

MOST_SETTINGS = 3
"""Settings that a method's name tells; of more, a number stands for them."""


@dataclass(frozen=True, kw_only=True)
class Data:
    """One dataset: what reports call it, and what it is."""

    label: str
    name: str
    hash: str


@dataclass(frozen=True, kw_only=True)
class Study:
    """Every method on every dataset, with one run per seed."""

    methods: tuple[str, ...]
    """What reports call the methods."""
    data: tuple[Data, ...]
    cells: dict[tuple[str, str], tuple[RunFacts, ...]]
    """Runs by method and data, ordered by seed."""
    notes: tuple[str, ...]
    """What a reader should know of the grouping."""

    @property
    def runs(self) -> list[RunFacts]:
        """Every run that is kept, method by method."""
        return [run for method in self.methods for run in self.of_method(method)]

    def of_method(self, method: str) -> list[RunFacts]:
        """The runs of one method on all data."""
        return [run for data in self.data for run in self.cells.get((method, data.label), ())]


def group(runs: Sequence[RunFacts]) -> Study:
    """Sort runs into cells; two of one cell and seed are told, and one of them is kept."""
    methods, data = method_labels(runs), _data_labels(runs)
    found: dict[tuple[str, str], list[RunFacts]] = {}
    for run, method in zip(runs, methods, strict=True):
        found.setdefault((method, data[run.data].label), []).append(run)
    notes: list[str] = []
    cells = {}
    for cell in sorted(found, key=lambda cell: (_natural(cell[0]), _natural(cell[1]))):
        notes += _unlike(cell, found[cell])
        cells[cell] = tuple(_one_per_seed(cell, found[cell], notes))
    return Study(
        methods=tuple(sorted(set(methods), key=_natural)),
        data=tuple(sorted(data.values(), key=lambda each: _natural(each.label))),
        cells=cells,
        notes=tuple(notes),
    )


def method_labels(runs: Sequence[RunFacts]) -> list[str]:
    """What to call the method of each run: its label, or algorithm and settings that differ.

    Settings differ where two runs of one algorithm on the same data, with no label, have them with
    other values; they are then told of all runs of that algorithm. Seeds are no settings.
    """
    by_algorithm: dict[str, list[RunFacts]] = {}
    for run in runs:
        if not clean(run.manifest.options.label or ""):
            by_algorithm.setdefault(run.manifest.algorithm, []).append(run)
    own = {name: _variants(name, some) for name, some in by_algorithm.items()}
    algorithms: dict[str, set[str]] = {}
    for run in runs:
        algorithms.setdefault(_label(run, own), set()).add(run.manifest.algorithm)
    return [
        f"{label} ({run.manifest.algorithm})" if len(algorithms[label]) > 1 else label
        for run, label in ((run, _label(run, own)) for run in runs)
    ]


def _label(run: RunFacts, own: dict[str, dict[str, str]]) -> str:
    return clean(run.manifest.options.label or "") or own[run.manifest.algorithm][_key(run)]


def clean(text: str) -> str:
    """A name on one line, without what a terminal or a page would act on instead of showing it."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _key(run: RunFacts) -> str:
    return json.dumps(run.manifest.flat_config, sort_keys=True, default=str)


def _variants(algorithm: str, runs: Sequence[RunFacts]) -> dict[str, str]:
    """The label of every config of one algorithm, by its key."""
    differ = sorted(_differing(runs))
    told = {_key(run): [(n, run.manifest.flat_config.get(n)) for n in differ] for run in runs}
    if len(differ) <= MOST_SETTINGS:
        return {
            key: ", ".join([clean(algorithm), *map(_said, values)]) for key, values in told.items()
        }
    kinds = sorted({json.dumps(values, default=str) for values in told.values()}, key=_natural)
    numbers = {kind: f"{clean(algorithm)}, variant {n}" for n, kind in enumerate(kinds, 1)}
    return {key: numbers[json.dumps(values, default=str)] for key, values in told.items()}


def _differing(runs: Sequence[RunFacts]) -> set[str]:
    """Settings in which runs on the same data differ, whichever data these are."""
    found: set[str] = set()
    for data in {run.data for run in runs}:
        configs = [run.manifest.flat_config for run in runs if run.data == data]
        names = {name for config in configs for name in config}
        found |= {name for name in names if len({str(c.get(name)) for c in configs}) > 1}
    return found


def _said(setting: tuple[str, Any]) -> str:
    name, value = setting
    return clean(f"{name} {say(value)}")


def say(value: Any) -> str:
    """A setting's value as people write it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return " ".join(map(say, value)) or "none"
    return "none" if value is None else str(value)


def _data_labels(runs: Sequence[RunFacts]) -> dict[tuple[str, str], Data]:
    known = {run.data for run in runs}
    names = [name for name, _ in known]
    return {
        (name, code): Data(
            label=f"{clean(name)} {code[:6]}" if names.count(name) > 1 else clean(name),
            name=name,
            hash=code,
        )
        for name, code in known
    }


def _unlike(cell: tuple[str, str], runs: Sequence[RunFacts]) -> Iterable[str]:
    differ = sorted(_differing(runs))
    if differ:
        method, data = cell
        yield (
            f"The runs called “{method}” on {data} differ in more than their seeds: "
            f"{', '.join(differ)}. Their mean is over different methods."
        )


def _one_per_seed(
    cell: tuple[str, str], runs: Sequence[RunFacts], notes: list[str]
) -> list[RunFacts]:
    """Of several runs with one seed the finished one, the longer one, the last by its folder."""
    by_seed: dict[int, list[RunFacts]] = {}
    for run in sorted(runs, key=lambda run: run.summary.run):
        by_seed.setdefault(run.seed, []).append(run)
    kept = []
    for seed, same in sorted(by_seed.items()):
        *others, best = sorted(same, key=lambda run: (run.summary.finished, run.summary.epochs))
        kept.append(best)
        if others:
            dropped = ", ".join(sorted(run.summary.run for run in others))
            notes.append(
                f"{len(same)} runs are “{cell[0]}” on {cell[1]} with seed {seed}; "
                f"{best.summary.run} is kept, {dropped} left out."
            )
    return kept


def _natural(text: str) -> list[tuple[int, float, str]]:
    """An order in which beta 3 stands before beta 10."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(0, float(p), "") if i % 2 else (1, 0.0, p) for i, p in enumerate(parts)]
