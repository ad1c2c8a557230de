"""`read_runs`: every run in the folders that a user names, and what could not be read of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from countmorl.errors import RunError
from countmorl.reports.facts import SHARED, RunFacts, read_facts
from countmorl.runs.folder import CONFIG, Run
from countmorl.runs.summary import LAST

DEPTH = 2
"""Levels below a folder in which runs are looked for: a sweep's folder, or a folder of sweeps."""


@dataclass(frozen=True, kw_only=True)
class Damaged:
    """A run that could not be read."""

    path: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Found:
    """The runs of a report."""

    methods: tuple[RunFacts, ...]
    """Runs that train a policy."""
    shared: tuple[RunFacts, ...]
    """Runs that others build on: models, codes, data."""
    damaged: tuple[Damaged, ...]
    empty: tuple[str, ...]
    """Folders in which there is no run."""


def read_runs(places: Sequence[Path], last: int = LAST) -> Found:
    """Read every run in `places`; `last` evaluations make up a run's mean."""
    if not places:
        raise RunError("No folder is given; wanted run folders, or folders that hold some.")
    folders, empty = _search(places)
    read, damaged = [], []
    for folder in folders:
        try:
            read.append(read_facts(Run.open(folder), last))
        except (RunError, OSError) as error:
            damaged.append(Damaged(path=str(folder), sentence=str(error)))
    if not read:
        raise RunError(_nothing(places, damaged))
    return Found(
        methods=tuple(each for each in read if each.manifest.algorithm not in SHARED),
        shared=tuple(each for each in read if each.manifest.algorithm in SHARED),
        damaged=tuple(damaged),
        empty=tuple(map(str, empty)),
    )


def _search(places: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Run folders, each once however often it is named, and places without any."""
    found: dict[Path, Path] = {}
    empty = []
    for place in places:
        if not place.is_dir():
            is_what = "is a file" if place.exists() else "is not there"
            raise RunError(f"{place} {is_what}; wanted a run folder, or a folder of runs.")
        inside = list(_folders(place, DEPTH))
        found |= {folder.resolve(): folder for folder in reversed(inside)}
        empty += [] if inside else [place]
    return sorted(found.values()), empty


def _folders(place: Path, depth: int) -> Iterator[Path]:
    if (place / CONFIG).exists():
        yield place
    elif depth:
        try:
            inner = sorted(place.iterdir())
        except PermissionError:  # Somebody else's folder beside ours.
            return
        for each in inner:
            if each.is_dir() and not each.name.startswith("."):
                yield from _folders(each, depth - 1)


def _nothing(places: Sequence[Path], damaged: Sequence[Damaged]) -> str:
    if not damaged:
        return (
            f"There is no run in {', '.join(map(str, places))}, nor up to {DEPTH} levels below: "
            f"a run is a folder with a {CONFIG}, as `countmorl train` makes it."
        )
    many = f"None of {len(damaged)} runs" if len(damaged) > 1 else "The only run"
    told = "can be read; the first" if len(damaged) > 1 else "cannot be read"
    return f"{many} {told}: {damaged[0].sentence}"
