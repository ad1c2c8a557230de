"""Settings of methods beside each other: those that differ, and those that all share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from countmorl.reports.facts import RunFacts
from countmorl.reports.groups import Study, say

NOT_THERE = "-"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every setting of the methods, by its dotted name."""

    shared: dict[str, str]
    """Those that every method has with one and the same value."""
    differing: dict[str, tuple[str, ...]]
    """The others, with one value per method; a dash where a method has no such setting."""


def settings_of(study: Study) -> Settings:
    """Tell settings apart: shared ones once, others per method."""
    runs = [study.of_method(method) for method in study.methods]
    names = sorted({name for some in runs for run in some for name in run.manifest.flat_config})
    values = {name: tuple(_value(some, name) for some in runs) for name in names}
    # A setting of one's own, such as a weight, means something else in another algorithm.
    several = len({run.manifest.algorithm for run in study.runs}) > 1
    own = {name for run in study.runs for name in run.manifest.own if several}
    shared = {n: row[0] for n, row in values.items() if len(set(row)) == 1 and n not in own}
    return Settings(
        shared=shared,
        differing={name: row for name, row in values.items() if name not in shared},
    )


def versions_of(runs: Sequence[RunFacts]) -> tuple[dict[str, str], list[str]]:
    """Package versions of the runs, several joined, and which packages differ."""
    names = list(dict.fromkeys(name for run in runs for name in run.manifest.versions))
    found = {
        name: sorted({run.manifest.versions.get(name, "missing") for run in runs}) for name in names
    }
    told = {name: ", ".join(versions) for name, versions in found.items()}
    return told, [name for name, versions in found.items() if len(versions) > 1]


def _value(runs: Sequence[RunFacts], name: str) -> str:
    """One value, or all of them where it goes by dataset."""
    having = [run for run in runs if name in run.manifest.flat_config]
    if not having:
        return NOT_THERE
    return " / ".join(dict.fromkeys(say(run.manifest.flat_config[name]) for run in having))
