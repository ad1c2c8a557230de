"""One raw value, as a row of a log holds it, and the number that it stands for.

What a value means is never guessed: text is read where it can mean one thing only, and everything
else is refused in a sentence that names the column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import numpy as np

from countmorl.errors import DataError, did_you_mean
from countmorl.runtime.dates import read_date
from countmorl.schema import NULLS, OTHER, Column

HOUR = timedelta(hours=1)
TRUE, FALSE = ("true", "1", "1.0", "yes", "y", "t"), ("false", "0", "0.0", "no", "n", "f")
TRUTH = {"true": 1.0, "false": 0.0}
SHOWN = 20
"""Known categories that a sentence lists at most."""


class Time(NamedTuple):
    """A point in time. Differences of dates and durations are hours, of numbers what they are."""

    kind: str
    at: float | int


def plain(value: Any) -> Any:
    """A value of Python's own; None where it is missing, as NaN and NaT are too."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (np.datetime64, np.timedelta64)):
        unit = "M8[us]" if isinstance(value, np.datetime64) else "m8[us]"
        value = value.astype(unit)  # Of nanoseconds NumPy would make a bare number.
    if isinstance(value, np.generic):
        value = value.item()
    # The marks of pandas are known by their names: it need not be installed.
    marked = type(value).__name__ in ("NAType", "NaTType")
    return None if marked or (isinstance(value, float) and math.isnan(value)) else value


def is_missing(column: Column, value: Any, null: Sequence[str] = ()) -> bool:
    """Whether a plain value is missing; `null` are the log's own words for that.

    Such text is not where the column knows it as a category.
    """
    if isinstance(value, str) and value not in column.values:
        return not value.strip() or value in NULLS or value in null
    return value is None


def to_number(column: Column, value: Any) -> float:
    """A number, or text that is one, as rows of a CSV hold it."""
    try:
        truth = TRUTH.get(value.strip().lower()) if isinstance(value, str) else None
        found = math.nan if _no_number(value) else float(value) if truth is None else truth
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if math.isnan(found):
        comma = isinstance(value, str) and value.count(",") == 1 and "." not in value
        hint = " Write a decimal point in place of the comma." if comma else ""
        raise _must_be(column, "a number", value, hint)
    if math.isinf(found):
        raise _must_be(column, "a finite number", value)
    return found


def to_boolean(column: Column, value: Any) -> float:
    """1 for what is true, 0 for what is false."""
    word = value.strip().lower() if isinstance(value, str) else value
    if isinstance(word, (bool, int, float)) and word in (0, 1):
        return float(word)
    for number, words in enumerate((FALSE, TRUE)):
        if isinstance(word, str) and word in words:
            return float(number)
    raise _must_be(column, "true or false", value)


def to_place(column: Column, value: Any) -> float:
    """The place of a category, or of a step of a scale, among those that the log knows."""
    if not isinstance(value, (str, bool, int, float, date)):
        raise _must_be(column, "a category", value)
    for text in _spellings(column, value):
        if text in column.values:
            return float(column.values.index(text))
    if column.kind == "category" and column.unknown == "other":
        known = column.values.index(OTHER) if OTHER in column.values else len(column.values)
        return float(known)
    raise DataError(
        f"'{column.name}' is {shown(value)}, which the log did not know."
        f"{did_you_mean(str(value), column.values)} It knows: {_listed(column.values)}."
    )


def to_hour(column: Column, value: Any) -> float:
    """The hour of the day from 0 to 24, with its fraction, by the clock that the value shows."""
    clock = value if isinstance(value, time) else _to_date(column, value)
    seconds = clock.second + clock.microsecond / 1e6
    return clock.hour + clock.minute / 60 + seconds / 3600


def to_weekday(column: Column, value: Any) -> float:
    """The day of the week: Monday is 0, Sunday 6."""
    return float(_to_date(column, value).weekday())


def to_time(column: Column, value: Any) -> Time:
    """A date, a duration or a number as a point in time."""
    if isinstance(value, timedelta):
        return Time("a duration", value / HOUR)
    written = isinstance(value, str) and column.date_format
    number = None if written else _time_number(value)  # 20241231 may be a date.
    if number is not None:
        return Time("a number", number)
    when = _to_date(column, value)
    if when.tzinfo is None:
        return Time("a date without a time zone", (when - datetime(1970, 1, 1)) / HOUR)
    return Time("a date with a time zone", (when - datetime(1970, 1, 1, tzinfo=UTC)) / HOUR)


READ: dict[str, Callable[[Column, Any], float]] = {
    "number": to_number,
    "boolean": to_boolean,
    "category": to_place,
    "scale": to_place,
    "hour": to_hour,
    "weekday": to_weekday,
}
"""How a value is read, by the kind of its column; elapsed time needs the episode's first row."""


def spread(column: Column, number: float) -> tuple[float, ...]:
    """The numbers that a column becomes, from the one that it stands for.

    That one is a category's place, an hour or a day of the week; `fill` of a column is meant so.
    """
    if column.kind == "category":
        size = len(column.numbers) - (column.missing == "median")
        return tuple(float(place == number) for place in range(size))
    if column.kind in ("hour", "weekday"):
        # The importer keeps it in 32 bits before the sine is taken: the same numbers come out here.
        angle = 2 * math.pi * float(np.float32(number)) / (24 if column.kind == "hour" else 7)
        return math.sin(angle), math.cos(angle)
    return (number,)


def _to_date(column: Column, value: Any) -> datetime:
    found = read_date(value, column.date_format) if isinstance(value, str) else value
    if isinstance(found, datetime):
        return found
    if isinstance(found, date):
        return datetime(found.year, found.month, found.day)
    written = column.date_format or "2024-03-31 or 2024-03-31T14:30:00"
    raise _must_be(column, "a date", value, f" Write dates as {written}.")


def _time_number(value: Any) -> float | int | None:
    """A time that is a number; None for all others. Whole numbers stay whole: they may be large."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or _no_number(value):
        return None
    try:
        whole = isinstance(value, int) or (isinstance(value, str) and value.strip().isdecimal())
        return (int(value) if whole else float(value)) if math.isfinite(float(value)) else None
    except (ValueError, OverflowError):
        return None


def _no_number(value: Any) -> bool:
    """What Python would take for a number and a log does not: 1_000, and arrays of one number."""
    return isinstance(value, np.ndarray) or (isinstance(value, str) and "_" in value)


def _spellings(column: Column, value: str | float | date) -> tuple[str, ...]:
    """How a log may have written a value: categories are kept as text, without blanks around."""
    if isinstance(value, date):
        return (_to_date(column, value).isoformat(" ", "microseconds"),)
    if isinstance(value, bool):
        return str(value).lower(), str(value), str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(value), str(int(value))
    if isinstance(value, str):
        return value, value.strip(), *_of_text(column, value.strip())
    return (str(value), f"{value}.0") if isinstance(value, int) else (str(value),)


def _of_text(column: Column, text: str) -> tuple[str, ...]:
    """What text says to a column whose categories are numbers, dates, or true and false."""
    if set(column.values) <= set(TRUTH):
        return (text.lower(),)
    number = _time_number(text)
    if number is not None:
        return tuple(s for s in _spellings(column, number) if _time_number(s) is not None)
    when = read_date(text, column.date_format)
    return () if when is None else (when.isoformat(" ", "microseconds"),)


def _listed(values: tuple[str, ...]) -> str:
    more = f", ... ({len(values)} in all)" if len(values) > SHOWN else ""
    return ", ".join(values[:SHOWN]) + more


def shown(value: Any) -> str:
    """A value as a sentence shows it, however long it is."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _must_be(column: Column, wanted: str, value: Any, hint: str = "") -> DataError:
    return DataError(f"'{column.name}' must be {wanted}, got {shown(value)}.{hint}")
