"""What raw columns hold: numbers, truth values, points in time or words, whatever their type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from countmorl.data.tables.engine import DataType, pl
from countmorl.errors import DataError

Holds = Literal["number", "boolean", "time", "text", "nothing"]
DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
CLOCKS = ("", "T%H:%M:%S%.f", " %H:%M:%S%.f", "T%H:%M", " %H:%M")
ZONE = "%#z"
OFFSET = r"\s*(Z|z|[+-]\d{2}:?\d{2}|[+-]\d{2})$"
ISO = frozenset("%Y-%m-%d" + clock + zone for clock in CLOCKS for zone in ("", ZONE))
TRUTH = {"true": True, "false": False}
FLAGS = TRUTH | dict.fromkeys(("1", "1.0", "yes", "y", "t"), True)
FLAGS |= dict.fromkeys(("0", "0.0", "no", "n", "f"), False)
"""How people write true and false where a column can mean nothing else."""
HOUR = 3.6e9
"""Microseconds."""


@dataclass(frozen=True)
class Meaning:
    """What a raw column holds, and how its text is read."""

    holds: Holds
    format: str | None = None
    """How dates are written, where they are text."""
    padded: bool = False
    """Whether numbers that are text have blanks around them."""
    comma: bool = False
    """Whether numbers that are text have a comma before their decimals."""

    @property
    def zoned(self) -> bool:
        """Whether dates that are text tell their distance from UTC."""
        return bool(self.format and self.format.endswith(ZONE))

    @property
    def date_format(self) -> str:
        """How dates are written, where they are text and another reader could not know."""
        return "" if self.format is None or self.format in ISO else self.format


def meaning_of(
    values: pl.Series, name: str, *, date_format: str | None = None, comma: bool = False
) -> Meaning:
    """What the first values of a column say about all of them."""
    kind = values.dtype
    if kind.is_numeric() or kind == pl.Duration:
        return Meaning("number")
    if kind == pl.Boolean:
        return Meaning("boolean")
    if kind in (pl.Date, pl.Datetime):
        return Meaning("time")
    if kind == pl.Null:
        return Meaning("nothing")
    if kind in (pl.String, pl.Categorical, pl.Enum):
        known = values.cast(pl.String).drop_nulls()
        return _of_text(known, name, date_format, comma) if len(known) else Meaning("nothing")
    raise DataError(
        f"Column '{name}' holds values of type {kind}. Wanted numbers, words, dates or true and "
        "false; put the parts of nested values into columns of their own."
    )


def _of_text(known: pl.Series, name: str, date_format: str | None, comma: bool) -> Meaning:
    stripped = known.str.strip_chars()
    numbers = stripped.str.replace(",", ".", literal=True) if comma else stripped
    if numbers.cast(pl.Float64, strict=False).null_count() == 0:
        return Meaning("number", padded=bool((stripped != known).any()), comma=comma)
    if stripped.str.to_lowercase().is_in(list(TRUTH)).all():
        return Meaning("boolean")
    fitting = list(_formats(stripped, date_format))
    if len(fitting) > 1 and not date_format:
        raise DataError(
            f"Dates of column '{name}' such as '{stripped[0]}' can be read in two ways, as "
            f"{fitting[0]} and as {fitting[1]}. Say which with --date-format '{fitting[0]}'."
        )
    return Meaning("time", fitting[0]) if fitting else Meaning("text")


def _formats(known: pl.Series, date_format: str | None) -> Iterator[str]:
    """Ways to read all of these words as dates."""
    if not known[0][:1].isdigit() and not date_format:
        return
    tried = [day + clock for day in DAYS for clock in CLOCKS]
    tried += [format + ZONE for format in tried if "%H" in format]
    for format in [date_format] if date_format else tried:
        if _parsed(known.head(1), format).null_count() == 0:
            if _parsed(known, format).null_count() == 0:
                yield format


def _parsed(text: pl.Series, format: str) -> pl.Series:
    return text.str.to_datetime(format, strict=False, time_unit="us")


def most_are(
    known: pl.Series, *, date_format: str | None = None, comma: bool = False
) -> Meaning | None:
    """What most of a column's words are, where they are numbers or dates; None where they are not.

    A mistake among numbers must not make a column of words of them.
    """
    if known.dtype != pl.String or not len(known):
        return None
    text = known.str.strip_chars()
    numbers = text.str.replace(",", ".", literal=True) if comma else text
    if 2 * numbers.cast(pl.Float64, strict=False).null_count() < len(text):
        return Meaning("number", comma=comma)
    dated = text.filter(text.str.contains(r"^\d+[-/.]\d+[-/.]\d+"))
    tried = [date_format] if date_format else [day + clock for day in DAYS for clock in CLOCKS]
    for format in tried if 2 * len(dated) > len(text) else []:
        if 2 * _parsed(text, format).null_count() < len(text):
            return Meaning("time", format)
    return None


def mixed_zones(known: pl.Series) -> bool:
    """Whether some of these dates tell a time zone and others do not."""
    zoned = known.str.contains(OFFSET) & known.str.contains(":")
    plain = known.str.replace(OFFSET, "")
    dates = (
        len(known) > 0
        and known[0][:1].isdigit()
        and bool(list(_formats(plain.str.strip_chars(), None)))
    )
    return bool(zoned.any()) and not bool(zoned.all()) and dates


def canonical(column: pl.Expr, kind: DataType, meaning: Meaning, *, strict: bool = True) -> pl.Expr:
    """The column as one of four types: Float64, Boolean, Datetime (in UTC where zoned), String."""
    if meaning.holds == "number":
        return _number(column, kind, meaning, strict)
    if meaning.holds == "boolean":
        return _truth(column, kind, strict)
    if meaning.holds == "time":
        return _instant(column, kind, meaning, strict)
    return _words(column, kind)


def wall_clock(column: pl.Expr, kind: DataType, meaning: Meaning) -> pl.Expr:
    """The time that the clock showed where it was written down, without its zone."""
    if kind != pl.String:
        return column.cast(pl.Datetime("us")) if kind == pl.Date else _naive(column, kind)
    naive = (meaning.format or "").removesuffix(ZONE)
    if meaning.zoned:
        column = column.str.replace(OFFSET, "")
    return column.str.strip_chars().str.to_datetime(naive, time_unit="us")


def hour_of(clock: pl.Expr) -> pl.Expr:
    """The hour of the day with its fraction."""
    seconds = clock.dt.second() + clock.dt.microsecond() / 1e6
    return clock.dt.hour() + clock.dt.minute() / 60 + seconds / 3600


def _naive(column: pl.Expr, kind: DataType) -> pl.Expr:
    zone = getattr(kind, "time_zone", None)
    local = column.dt.replace_time_zone(None) if zone else column
    return local.cast(pl.Datetime("us"))


def _number(column: pl.Expr, kind: DataType, meaning: Meaning, strict: bool) -> pl.Expr:
    if kind == pl.Duration:
        return column.dt.total_microseconds() / HOUR
    if kind in (pl.String, pl.Categorical, pl.Enum):
        column = column.cast(pl.String).str.strip_chars()
        column = column.str.replace(",", ".", literal=True) if meaning.comma else column
    return column.cast(pl.Float64, strict=strict).fill_nan(None)


def _truth(column: pl.Expr, kind: DataType, strict: bool) -> pl.Expr:
    if kind == pl.Boolean:
        return column
    if kind.is_numeric():
        column = column.cast(pl.Float64)
        # Anything else than 0 and 1 becomes a word that is neither true nor false.
        words = pl.when(column == 1).then(pl.lit("1")).when(column == 0).then(pl.lit("0"))
        column = words.when(column.is_not_null() & column.is_not_nan()).then(column.cast(pl.String))
        column = column.otherwise(None)
    words = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    if strict:
        return words.replace_strict(FLAGS, return_dtype=pl.Boolean)
    return words.replace_strict(FLAGS, default=None, return_dtype=pl.Boolean)


def _instant(column: pl.Expr, kind: DataType, meaning: Meaning, strict: bool) -> pl.Expr:
    if kind == pl.String:
        format = meaning.format or "%Y-%m-%d"
        parsed = column.str.strip_chars().str.to_datetime(format, time_unit="us", strict=strict)
        return parsed.dt.replace_time_zone(None) if meaning.zoned else parsed
    if getattr(kind, "time_zone", None):
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return column.cast(pl.Datetime("us"), strict=strict)


def _words(column: pl.Expr, kind: DataType) -> pl.Expr:
    if not kind.is_float():
        return column.cast(pl.String)
    whole = (column == column.floor()) & (column.abs() < 2**53)
    text = pl.when(whole).then(column.cast(pl.Int64, strict=False).cast(pl.String))
    return text.otherwise(column.fill_nan(None).cast(pl.String))
