"""Words that are kept by number while a table is read, in the order in which they are met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from countmorl.data.tables.engine import pl
from countmorl.errors import DataError, did_you_mean
from countmorl.schema import OTHER, Column


class Words:
    """The categories of one column: those that the schema knows, or those that the log holds."""

    def __init__(self, column: Column, most: int, where: Callable[[int], str]) -> None:
        self.column, self.most, self.where = column, most, where
        self.fixed = bool(column.values)
        self.places = {word: place for place, word in enumerate(column.values)}
        self.codes: dict[Any, float] = {}
        """By raw value."""

    def read(self, values: pl.Series, start: int) -> pl.Series:
        """The number of each word; `start` is the row at which these values begin."""
        if values.dtype.is_float():
            values = values.fill_nan(None)
        for value in values.unique(maintain_order=True).drop_nulls().to_list():
            if value not in self.codes and label(value):
                self.codes[value] = self._place(value, values, start)
        if not self.codes:
            return pl.Series(values.name, np.full(len(values), np.nan, np.float32))
        return values.replace_strict(
            list(self.codes), list(self.codes.values()), default=None, return_dtype=pl.Float32
        )

    def _place(self, value: Any, values: pl.Series, start: int) -> float:
        word = label(value)
        if word in self.places:
            return float(self.places[word])
        if not self.fixed:
            if len(self.places) >= self.most:
                raise self._too_many(start + int((values == value).arg_max() or 0))
            return float(self.places.setdefault(word, len(self.places)))
        if self.column.unknown == "other" and self.column.kind == "category":
            return float(self.places.get(OTHER, len(self.column.values)))
        row = start + int((values == value).arg_max() or 0)
        hint = did_you_mean(word, self.column.values)
        raise DataError(
            f"Column '{self.column.name}' holds '{word}' in {self.where(row)}, which is none of "
            f"its values ({', '.join(self.column.values[:20])}).{hint} Add it, or let unknown ones "
            'be "other" (unknown = "other").'
        )

    def _too_many(self, row: int) -> DataError:
        name, first = self.column.name, ", ".join(f"'{w}'" for w in list(self.places)[:3])
        return DataError(
            f"Column '{name}' has more than {self.most} different words ({first}, ...): the next "
            f"comes in {self.where(row)}. Leave it out, or join words by an expression; is it an "
            "id? --most-categories allows more for an observation."
        )

    def ordered(self, extra: str | None = None) -> tuple[tuple[str, ...], np.ndarray]:
        """The words in their lasting order, and the place in it of each number given so far."""
        if self.fixed:
            return self.column.values, np.arange(len(self.column.values) + 1, dtype=np.float32)
        found = set(self.places) | ({extra} if extra is not None else set())
        words = tuple(sorted(found, key=_rank))
        places = [words.index(word) for word in self.places]
        return words, np.array(places, np.float32)


def label(value: Any) -> str:
    """A value as the name of a category; blanks around it do not count."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _rank(word: str) -> tuple[int, float, str]:
    """Numbers come first, by size; then words, by the alphabet."""
    try:
        return 0, float(word), word
    except ValueError:
        return 1, 0.0, word
