"""Logs that were counted after the training: their tables beside a run, and on their way.

The run's own files stay as they are. What was added lies in one file, which is replaced as a whole;
it says which logs it holds, so that none is counted twice. It holds codes and how often each was
seen, and no row of any log: sites add up their counts without showing each other their data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.configs import from_json, to_json
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.files import Arrays, read_arrays, write_arrays
from countmorl.runtime.tables import Table

ADDED_FILE = "added.safetensors"
ADDED_KIND, ADDED_FORMAT = "added-counts", 1


@dataclass(frozen=True, kw_only=True)
class AddedLog:
    """A log that was added."""

    name: str
    hash: str
    """SHA-256 of its observations and actions."""
    rows: int
    counted: int
    """Rows that at least one member can tell; the others stay uncounted."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Added:
    """Tables of the logs that were added, one for each member."""

    codes: str
    """Digest of the codes that were counted by: those of the run alone fit."""
    tables: tuple[Table | None, ...]
    """None where a member can tell no row."""
    logs: tuple[AddedLog, ...]

    def check_codes(self, codes: str, where: str) -> None:
        """Raise where other codes were counted."""
        if self.codes != codes or not self.tables:
            raise DataError(
                f"The counts of {where} are of other codes. Only counts that began with the same "
                "run can be added up: give every site a copy of one run."
            )

    def merge(self, other: Added) -> Added:
        """Both together; a log that both hold is refused."""
        other.check_codes(self.codes, "the other file")
        if len(self.tables) != len(other.tables):
            raise DataError("The two files have counts of another number of members.")
        ours = {log.hash: log for log in self.logs}
        twice = [log for log in other.logs if log.hash in ours]
        if twice:
            raise DataError(
                f"'{twice[0].name}' was added already, as '{ours[twice[0].hash].name}' "
                f"({twice[0].rows:,} rows); its pairs would count twice. Nothing was changed."
            )
        try:
            tables = summed(self.tables, other.tables)
        except OverflowError as error:
            raise DataError(f"These counts cannot be added up: {error}.") from error
        return Added(codes=self.codes, tables=tables, logs=(*self.logs, *other.logs))

    def save(self, path: Path) -> None:
        """Write one safetensors file, atomically."""
        arrays: Arrays = {}
        for place, table in enumerate(self.tables):
            if table is not None:
                arrays |= {f"{place}.words": table.words, f"{place}.counts": table.counts}
        meta = {
            "kind": ADDED_KIND,
            "format": ADDED_FORMAT,
            "codes": self.codes,
            "members": len(self.tables),
            "logs": [to_json(log) for log in self.logs],
        }
        write_arrays(path, arrays, meta)

    @classmethod
    def load(cls, path: Path) -> Added:
        """Read what `save` wrote; anything else is a `RunError`."""
        arrays, meta = read_arrays(path)
        if (meta.get("kind"), meta.get("format")) != (ADDED_KIND, ADDED_FORMAT):
            raise RunError(
                f"{path} holds no added counts of format {ADDED_FORMAT}, but "
                f"{meta.get('kind', 'unknown')} of format {meta.get('format')}."
            )
        try:
            return _stored_added(arrays, meta)
        except (KeyError, TypeError, ValueError, OverflowError, ConfigError) as error:
            raise RunError(f"{path} does not hold complete counts: {error}.") from error


def added_to(run: Path, codes: str) -> Added | None:
    """What was added to a run; None where nothing was."""
    path = run / ADDED_FILE
    if not path.exists():
        return None
    found = Added.load(path)
    found.check_codes(codes, str(path))
    return found


def tables_of(words: np.ndarray, known: np.ndarray) -> tuple[Table | None, ...]:
    """Count the codes of pairs, [members, pairs, words], where a member can tell them."""
    pairs = zip(words, known, strict=True)
    return tuple(Table.of(each[has]) if has.any() else None for each, has in pairs)


def summed(one: Sequence[Table | None], other: Sequence[Table | None]) -> tuple[Table | None, ...]:
    """Add up the tables of two logs, member by member."""
    pairs = zip(one, other, strict=True)
    return tuple(a.merge(b) if a and b else a or b for a, b in pairs)


def _stored_added(arrays: Arrays, meta: Mapping[str, Any]) -> Added:
    members = meta["members"]
    if type(members) is not int or not 0 < members <= 1_000:
        raise ValueError("it does not say of how many members they are")
    tables = []
    for place in range(members):
        words, counts = arrays.get(f"{place}.words"), arrays.get(f"{place}.counts")
        if (words is None) != (counts is None):
            raise ValueError("a table is not whole")
        tables.append(None if words is None or counts is None else _stored_table(words, counts))
    logs = tuple(from_json(AddedLog, log) for log in meta["logs"])
    return Added(codes=str(meta["codes"]), tables=tuple(tables), logs=logs)


def _stored_table(words: np.ndarray, counts: np.ndarray) -> Table:
    fits = words.ndim == 2 and words.size and counts.shape == words.shape[:1]
    if not fits or words.dtype != np.uint32 or counts.dtype.kind not in "iu":
        raise ValueError("a table is not one")
    if (counts < 1).any():
        raise ValueError("a code was never seen")
    return Table.of(words, counts)
