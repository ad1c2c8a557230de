"""Raw numbers of rows made the numbers of observations and actions, block after block."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from countmorl.data.tables.arranged import arranged
from countmorl.data.tables.missing import carried, filler, refuse_start
from countmorl.data.tables.steps import Steps, position
from countmorl.data.tables.survey import Survey, wide_name
from countmorl.schema import Column, Schema


@dataclass(eq=False)
class Reader:
    """One column on its way to numbers; it remembers the last row of the block before."""

    column: Column
    place: int
    wide: int | None
    """Where its times lie among the wide columns."""
    remap: np.ndarray | None
    """The lasting place of each word's number."""
    is_plain: bool = False
    """Whether its raw numbers are what it becomes, with nothing to fill in."""
    last: float = np.nan
    origin: float = np.nan

    def read(
        self, narrow: np.ndarray, wide: np.ndarray, starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The number that each row stands for, and where it was missing."""
        raw = narrow[:, self.place] if self.wide is None else wide[:, self.wide]
        missing = np.isnan(raw)
        missing = missing if missing.any() else None
        if self.remap is not None:
            codes = raw if missing is None else np.where(missing, 0, raw)
            mapped = self.remap[codes.astype(np.int64)]
            raw = mapped if missing is None else np.where(missing, np.nan, mapped)
        if self.column.missing == "carry":
            raw, self.last = carried(raw, starts, self.last)
        if self.wide is not None:
            raw = self._elapsed(raw, starts)
        if missing is not None and self.column.missing in ("value", "median"):
            raw = np.where(missing, filler(self.column), raw)
        return raw, missing

    def _elapsed(self, raw: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Time since the first row of the episode that has one."""
        episode = np.cumsum(starts)  # 0 is the one that goes on from the block before.
        known = np.flatnonzero(~np.isnan(raw))
        numbers, first = np.unique(episode[known], return_index=True)
        origins = np.full(int(episode[-1]) + 1, np.nan)
        origins[numbers] = raw[known[first]]
        if not np.isnan(self.origin):
            origins[0] = self.origin
        self.origin = origins[-1]
        return raw - origins[episode]


def spread(column: Column, values: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """The numbers that a column becomes, [rows, numbers]."""
    if column.kind == "category":
        size = len(column.numbers) - (column.missing == "median")
        return (values[:, None] == np.arange(size)).astype(np.float32)
    if column.kind in ("hour", "weekday"):
        angle = 2 * np.pi * np.float64(values) / (24 if column.kind == "hour" else 7)
        return np.stack([np.sin(angle), np.cos(angle)], axis=1).astype(np.float32)
    numbers = values[:, None].astype(np.float32)
    if column.missing != "median":
        return numbers
    flags = np.zeros_like(numbers) if missing is None else missing[:, None].astype(np.float32)
    return np.concatenate([numbers, flags], axis=1)


def settle(found: Survey, *, history: int) -> list[Reader]:
    """Columns with what only the whole table tells: words, medians, usual actions."""
    readers = []
    for place, source in enumerate(found.layout.columns):
        column, remap = source.column, None
        if place in found.words:
            words, remap = found.words[place].ordered(source.filler)
            column = replace(column, values=words)
            if source.filler is not None:
                column = replace(column, fill=float(words.index(source.filler)))
        if column.missing == "median" and column.fill is None and not found.tallies[place].missing:
            # A number that says "was missing" and never did has taught nothing.
            column = replace(column, missing="refuse")
        is_action = place >= len(found.layout.obs)
        usual = is_action and history > 1 and column.kind == "number"
        if column.fill is None and (column.missing == "median" or usual):
            column = replace(column, fill=_median(found.narrow.column(place), column))
        wide = found.wide_names.index(wide_name(source)) if source.is_wide else None
        whole = not found.tallies[place].missing and column.missing != "median"
        plain = column.kind in ("number", "boolean") and whole
        readers.append(Reader(column, place, wide, remap, plain))
    return readers


def _median(values: np.ndarray, column: Column) -> float:
    known = values[~np.isnan(values)]
    if column.kind == "scale":  # A step that there is, not a number between two.
        return float(np.quantile(known, 0.5, method="lower"))
    return float(np.median(known))


class Encoder:
    """Makes blocks of observations and actions; history reaches back into the block before."""

    def __init__(self, found: Survey, steps: Steps, readers: list[Reader], schema: Schema) -> None:
        self.found, self.steps, self.readers, self.schema = found, steps, readers, schema
        self.stores = [arranged(store, steps.rows) for store in (found.narrow, found.wide)]
        self.before = 0
        self.tail: tuple[np.ndarray, np.ndarray] | None = None
        fills = [0.0 if c.kind == "category" or c.fill is None else c.fill for c in schema.action]
        width = len(schema.action_numbers)
        self.usual = np.zeros(width, np.float32) if schema.discrete else np.array(fills, np.float32)

    def block(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Observations and actions of the steps that begin in these rows."""
        steps = self.steps
        narrow, wide = (store.read(slice(start, stop)) for store in self.stores)
        starts = steps.starts[start:stop]
        split, place = len(self.schema.obs), position(starts, self.before)
        self.before = int(place[-1]) + 1
        now, action = (
            self._joined(readers, narrow, wide, starts, start)
            for readers in (self.readers[:split], self.readers[split:])
        )
        if steps.taken is not None:
            chosen = steps.taken[start:stop]
            now, action, place = now[chosen], action[chosen], place[chosen]
            place = place // self.schema.frame_skip
        return (self._stacked(now, action, place) if self.schema.history > 1 else now), action

    def _joined(
        self,
        readers: list[Reader],
        narrow: np.ndarray,
        wide: np.ndarray,
        starts: np.ndarray,
        offset: int,
    ) -> np.ndarray:
        """The numbers of some columns, side by side; plain ones are taken all at once."""
        parts: list[np.ndarray] = []
        for plain, group in itertools.groupby(readers, lambda reader: reader.is_plain):
            if plain:
                places = [reader.place for reader in group]
                parts.append(narrow[:, places[0] : places[-1] + 1])
            else:
                parts += [self._numbers(each, narrow, wide, starts, offset) for each in group]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _numbers(
        self,
        reader: Reader,
        narrow: np.ndarray,
        wide: np.ndarray,
        starts: np.ndarray,
        offset: int,
    ) -> np.ndarray:
        values, missing = reader.read(narrow, wide, starts)
        if missing is not None and reader.column.missing == "carry":
            left = np.isnan(values)
            refuse_start(self.found, left, self.steps.rows, reader.column.name, offset)
        return spread(reader.column, values, missing)

    def _stacked(self, now: np.ndarray, action: np.ndarray, place: np.ndarray) -> np.ndarray:
        """What is seen now, then what was seen and done before, the latest first."""
        reach = self.schema.history - 1
        if self.tail is None:
            empty = np.zeros((reach, now.shape[1])), np.zeros((reach, action.shape[1]))
            self.tail = empty
        seen = np.concatenate([self.tail[0], now]).astype(np.float32)
        done = np.concatenate([self.tail[1], action]).astype(np.float32)
        parts = [now]
        for lag in range(1, reach + 1):
            at = np.arange(len(now)) + reach - np.minimum(lag, place)
            earlier = np.where((place >= lag)[:, None], done[at], self.usual)
            parts += [seen[at], earlier]
        self.tail = seen[len(seen) - reach :], done[len(done) - reach :]
        return np.concatenate(parts, axis=1)
