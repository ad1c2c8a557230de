"""Raw rows, as a log holds them, turned into the numbers that its schema names. NumPy only.

The importer of tables does the same for whole logs; what a policy learned on and what it is asked
in production are encoded by the same rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from countmorl.errors import DataError, did_you_mean
from countmorl.runtime.values import READ, Time, is_missing, plain, spread, to_time
from countmorl.schema import Column, Schema

NAMES_SHOWN = 5
"""Missing names that a sentence lists at most."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Memory:
    """What a row must know of the rows before it in its episode."""

    last: np.ndarray | None = None
    """The numbers of the row before; None at the first."""
    starts: Mapping[int, Time] = field(default_factory=dict)
    """When the episode began, by the place of the column that tells the time."""
    counted: bool = False
    """Whether earlier steps came as numbers, so that nobody saw when the episode began."""


class Rows:
    """Turns rows, mappings of names to raw values, into the numbers of `schema.now`."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        ends = itertools.accumulate((len(column.numbers) for column in schema.obs), initial=0)
        self._places = [slice(*pair) for pair in itertools.pairwise(ends)]
        self._clocks = [i for i, column in enumerate(schema.obs) if column.kind == "elapsed"]

    @property
    def needs_session(self) -> str | None:
        """Why a row alone says too little to act on; None where it says enough."""
        if self.schema.history > 1:
            return f"it looks at the last {self.schema.history} observations"
        if self._clocks:
            name = self.schema.obs[self._clocks[0]].name
            return f"'{name}' is the time since the episode began"
        return None

    def numbers(self, row: Any) -> np.ndarray:
        """The numbers of one row, without any memory."""
        return self._encoded(self._values(row), None)

    def table(self, rows: Iterable[Any]) -> np.ndarray:
        """The numbers of several rows, [rows, numbers], without any memory."""
        found = [self.numbers(row) for row in rows]
        return np.stack(found) if found else np.empty((0, len(self.schema.now)), np.float32)

    def next(self, row: Any, memory: Memory) -> tuple[np.ndarray, Memory]:
        """The numbers of an episode's next row, and what is to be remembered with it."""
        values = self._values(row)
        starts = dict(memory.starts)
        for i in self._clocks:
            if i not in starts and not self._lacks(i, values[i]):
                starts[i] = self._start(self.schema.obs[i], values[i], memory)
        memory = replace(memory, starts=starts)
        numbers = self._encoded(values, memory)
        return numbers, replace(memory, last=numbers)

    def _start(self, column: Column, value: Any, memory: Memory) -> Time:
        if memory.counted:
            raise DataError(
                f"'{column.name}' is the time since the episode began, and this session began "
                "with numbers in place of a row. Go on with numbers, or begin with a row."
            )
        return to_time(column, value)

    def _values(self, row: Any) -> list[Any]:
        """The plain value of every column; a row that lacks one is refused."""
        given = as_row(row)
        lacking = [column for column in self.schema.obs if _key(column, given) is None]
        if lacking:
            names = [column.name for column in self.schema.obs]
            raise _lacking(lacking, [key for key in given if key not in names])
        return [plain(given[_key(column, given)]) for column in self.schema.obs]

    def _lacks(self, place: int, value: Any) -> bool:
        """Whether a column's value is missing."""
        return is_missing(self.schema.obs[place], value, self.schema.null)

    def _encoded(self, values: Sequence[Any], memory: Memory | None) -> np.ndarray:
        pairs = enumerate(values)
        found = [number for i, value in pairs for number in self._encode(i, value, memory)]
        with np.errstate(over="ignore"):
            numbers = np.array(found, np.float32)
        if not np.isfinite(numbers).all():
            at = int(np.argmin(np.isfinite(numbers)))
            raise DataError(
                f"'{self.schema.now[at]}' is {found[at]:g}, more than a number of 32 bits can hold."
            )
        return numbers

    def _encode(self, place: int, value: Any, memory: Memory | None) -> Sequence[float]:
        column = self.schema.obs[place]
        missing = self._lacks(place, value)
        if missing and column.missing == "carry":
            return self._carried(place, memory)
        if missing:
            number = _filled(column)
        elif column.kind == "elapsed":
            number = self._elapsed(column, value, memory.starts[place] if memory else None)
        else:
            number = READ[column.kind](column, value)
        flag = (float(missing),) if column.missing == "median" else ()
        return (*spread(column, number), *flag)

    def _elapsed(self, column: Column, value: Any, start: Time | None) -> float:
        """Time since the episode's first row: hours, or numbers as they are."""
        assert start is not None  # Whoever acts without a session asks `needs_session` first.
        now = to_time(column, value)
        if now.kind != start.kind:
            raise DataError(
                f"'{column.name}' is {now.kind} now and was {start.kind} in the episode's first "
                "row. Give all times of an episode in one form."
            )
        if now.at < start.at and column.name == self.schema.time:
            raise DataError(
                f"'{column.name}' lies before the episode's first row. Rows come in the order of "
                "time, and every episode has a session of its own."
            )
        return float(now.at - start.at)

    def _carried(self, place: int, memory: Memory | None) -> Sequence[float]:
        name = self.schema.obs[place].name
        if memory is None:
            raise DataError(
                f"'{name}' is missing, and its last value is to be carried forward, which a row "
                "alone does not know. Use `policy.session()`, one for each episode."
            )
        if memory.last is None:
            raise DataError(
                f"'{name}' is missing in the episode's first row, so there is no value to carry "
                "forward. Give one."
            )
        return memory.last[self._places[place]].tolist()


def as_row(row: Any) -> Mapping[Any, Any]:
    """A row as a mapping; a row of a DataFrame is one too."""
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "keys") and hasattr(row, "__getitem__") and not hasattr(row, "columns"):
        return {key: row[key] for key in row.keys()}
    raise DataError(
        f"A row is a mapping of names to values, such as {{'age': 61}}; got {type(row).__name__}. "
        "Rows of a DataFrame are made by `to_dicts()` (Polars) or `to_dict('records')` (pandas)."
    )


def _key(column: Column, given: Mapping[Any, Any]) -> str | None:
    """Where a row holds a column: under its name, or under that of the one it is taken from."""
    if column.name in given:
        return column.name
    plain = (column.expression or "").strip()
    return next((key for key in (plain, plain.strip('"')) if key and key in given), None)


def _filled(column: Column) -> float:
    """What stands for a missing value."""
    if column.missing in ("value", "median") and column.fill is not None:
        return column.fill
    why = {
        "refuse": "The log had no missing ones, so the policy has not learned what to do then.",
        "drop": "The log's rows without it were dropped, so the policy has not learned from any.",
    }.get(column.missing, "The schema does not say which number stands for it.")
    raise DataError(f"'{column.name}' is missing. {why} Give a value.")


def _lacking(columns: Sequence[Column], others: Sequence[Any]) -> DataError:
    """Say which columns a row lacks, and which of its other keys may be a slip."""
    first = columns[0]
    if first.expression is not None:
        return DataError(
            f"The row has no '{first.name}', which the log computed as {first.expression}. A "
            f"policy computes nothing: give the computed value under the name '{first.name}'."
        )
    more = f" and {len(columns) - NAMES_SHOWN} more" if len(columns) > NAMES_SHOWN else ""
    names = ", ".join(f"'{column.name}'" for column in columns[:NAMES_SHOWN])
    guess = did_you_mean(first.name, [key for key in others if isinstance(key, str)])
    unknown = "" if first.missing in ("refuse", "drop") else " Give None where it is not known."
    return DataError(f"The row has no {names}{more}.{guess}{unknown}")
