"""`Frame`: the raw columns of a table that are needed, each of one of four types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NoReturn

from countmorl.data.tables.engine import DataType, pl
from countmorl.data.tables.expressions import Formula, unreadable
from countmorl.data.tables.request import Request
from countmorl.data.tables.scan import Part, Table
from countmorl.data.tables.values import (
    OFFSET,
    Holds,
    Meaning,
    canonical,
    meaning_of,
    mixed_zones,
    most_are,
    wall_clock,
)
from countmorl.errors import ConfigError, DataError
from countmorl.schema import NULLS, Kind

TYPES: dict[Holds, DataType] = {
    "number": pl.Float64(),
    "boolean": pl.Boolean(),
    "time": pl.Datetime("us"),
    "text": pl.String(),
    "nothing": pl.String(),
}
COMMA = r"^[+-]?\d{1,3}(\.\d{3})*,\d+$|^[+-]?\d+,\d+$"


@dataclass(eq=False)
class Frame:
    """What is needed of a table; asking for a column makes it one of those that are read."""

    table: Table
    request: Request
    meanings: dict[str, Meaning] = field(default_factory=dict)
    needed: dict[str, Callable[[Part], pl.Expr]] = field(default_factory=dict)
    """By name in the frame, how a column is made in each part of the table."""
    ids: set[str] = field(default_factory=set)
    flags: dict[str, Meaning] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the table."""
        return self.table.names

    def look(self, names: Iterable[str]) -> None:
        """Tell from their first values what columns hold, all at once."""
        wanted = [name for name in dict.fromkeys(names) if name not in self.meanings]
        if not wanted:
            return
        first = self.table.peek(wanted)
        if first.height == 0:
            raise DataError(f"{self.table.name} has a header but no rows.")
        found = {name: self._meaning(self._known(first[name]), name) for name in wanted}
        empty = [name for name, meaning in found.items() if meaning.holds == "nothing"]
        if empty:  # Perhaps later rows hold something.
            found |= {name: self._meaning(self._known(self._later(name)), name) for name in empty}
        self.meanings |= found

    def _known(self, values: pl.Series) -> pl.Series:
        """Values, with nothing where a word says that there is none."""
        if values.dtype != pl.String:
            return values
        return values.to_frame().select(self._no_nulls(pl.col(values.name))).to_series()

    def _no_nulls(self, column: pl.Expr) -> pl.Expr:
        return column.replace(["", *NULLS, *self.request.null], None)

    def _raw(self, part: Part, name: str) -> pl.Expr:
        """A column as it lies there; Polars knows words for nothing in CSV alone."""
        text = not part.is_csv and part.types[name] == pl.String
        return self._no_nulls(pl.col(name)) if text else pl.col(name)

    def _later(self, name: str) -> pl.Series:
        with self.table.sentences():
            opened = self.table.parts[0].open({}).select(pl.col(name).drop_nulls())
            return opened.head(1000).collect()[name]

    def _meaning(self, values: pl.Series, name: str) -> Meaning:
        setting, request = self.request.setting(name), self.request
        kind = setting.kind
        if values.dtype == pl.String and setting.date_format:
            return self._dates(values, name, setting.date_format)
        if values.dtype == pl.String and kind != "category" and not request.decimal_comma:
            self._refuse_commas(values, name)
        how = {"date_format": request.date_format, "comma": request.decimal_comma}
        meaning = meaning_of(values, name, **how)
        if meaning.holds == "text" and kind not in ("category", "scale"):
            most = most_are(values.drop_nulls(), **how)
            if most is not None:
                self._refuse_few(values, name, most)
        return meaning

    def _dates(self, values: pl.Series, name: str, written: str) -> Meaning:
        """Dates of which it was said how they are written; they may look like numbers."""
        meaning = Meaning("time", written)
        read = values.to_frame().select(
            canonical(pl.col(name), pl.String(), meaning, strict=False).alias(name)
        )
        if read[name].null_count() > values.null_count():
            self._refuse_few(values, name, meaning)
        return meaning

    def _refuse_few(self, values: pl.Series, name: str, most: Meaning) -> None:
        """A few words among numbers, or among dates, are mistakes."""
        checked = values.to_frame().select(
            canonical(pl.col(name), values.dtype, most, strict=False)
        )
        bad = values.is_not_null() & checked[name].is_null()
        row = int(bad.arg_max() or 0)
        raise self._wrong(name, row, values[row], most)

    def _refuse_commas(self, values: pl.Series, name: str) -> None:
        known = values.drop_nulls().str.strip_chars()
        commas = known.str.contains(COMMA)
        plain = known.cast(pl.Float64, strict=False).is_not_null()
        if commas.any() and (commas | plain).all():
            row = int((values.str.contains(r",") & values.is_not_null()).arg_max() or 0)
            raise DataError(
                f"Column '{name}' writes numbers with a decimal comma: {self.table.where(row)} "
                f"holds '{values[row]}'. --decimal-comma reads them."
            )

    def meaning(self, name: str) -> Meaning:
        """What a column holds; it is read from now on."""
        self.look([name])
        meaning = self.meanings[name]
        self.needed[name] = lambda part: canonical(
            self._raw(part, name), self._type(part, name), meaning
        )
        return meaning

    def wall(self, name: str) -> pl.Expr:
        """The clock as it was written down."""
        meaning, alias = self.meaning(name), f"{name}\x1fwall"
        self.needed[alias] = lambda part: wall_clock(
            self._raw(part, name), self._type(part, name), meaning
        )
        return pl.col(alias)

    def flag(self, name: str) -> pl.Expr:
        """The column as true and false, however that is written."""
        self.look([name])
        alias = f"{name}\x1fflag"
        truth = replace(self.meanings[name], holds="boolean")
        self.flags[name] = truth
        self.needed[alias] = lambda part: canonical(
            self._raw(part, name), self._type(part, name), truth
        )
        return pl.col(alias)

    def identity(self, name: str) -> pl.Expr:
        """The column as it lies there, of which only equality counts."""
        self.ids.add(name)
        alias = f"{name}\x1fid"
        same = len({str(part.types[name]) for part in self.table.parts}) == 1
        self.needed[alias] = lambda part: pl.col(name) if same else pl.col(name).cast(pl.String)
        return pl.col(alias)

    def holds_of(self, formula: Formula) -> Holds:
        """What an expression gives; its columns are read from now on."""
        self.look(formula.columns)
        types = {name: TYPES[self.meaning(name).holds] for name in formula.columns}
        types |= {shift.alias: types[shift.column] for shift in formula.shifts}
        try:
            empty = pl.LazyFrame(schema=types).select(formula.expr.alias("value"))
            kind = empty.collect_schema()["value"]
            empty.collect()
        except Exception as error:
            raise unreadable(formula.text, "the request", error) from error
        if kind.is_numeric():
            return "number"
        holds = {pl.Boolean: "boolean", pl.String: "text", pl.Datetime: "time", pl.Date: "time"}
        if kind.base_type() not in holds:
            raise ConfigError(f"The expression '{formula.text}' gives {kind}, no number or word.")
        return holds[kind.base_type()]  # type: ignore[return-value]

    def cannot_be(self, name: str, kind: Kind, holds: Holds) -> DataError:
        """What is said where a column does not hold what its kind needs."""
        values = self.table.peek([name])[name] if name in self.names else None
        first = values.drop_nulls() if values is not None else None
        shown = ""
        if values is not None and first is not None and len(first):
            row = int(values.is_not_null().arg_max() or 0)
            shown = f" ({self.table.where(row)} holds '{first[0]}')"
        zones = first is not None and first.dtype == pl.String and mixed_zones(first)
        why = ""
        if zones and values is not None:
            told = values.str.contains(OFFSET)
            row = int((told != told.drop_nulls()[0]).arg_max() or 0)
            why = (
                " Some of its dates tell a time zone, and others do not: the first that differs "
                f"stands in {self.table.where(row)}."
            )
        if kind in ("elapsed", "hour", "weekday") and self.request.date_format and not why:
            why = f" Its dates are not written as {self.request.date_format}."
        wanted = "a time" if kind in ("elapsed", "hour", "weekday") else f"a {kind}"
        return DataError(
            f"Column '{name}' cannot be read as {wanted}: it holds {_words(holds)}{shown}.{why}"
        )

    def lazy(self) -> pl.LazyFrame:
        """All that is needed, one row for each of the table's."""
        opened = [part.open(self._told(part)) for part in self.table.parts]
        chosen = [
            frame.select([make(part).alias(name) for name, make in self.needed.items()])
            for part, frame in zip(self.table.parts, opened, strict=True)
        ]
        return chosen[0] if len(chosen) == 1 else pl.concat(chosen)

    def _told(self, part: Part) -> dict[str, DataType]:
        """Columns of numbers are parsed as such while a text is read, which is fastest."""
        return {
            name: pl.Float64()
            for name, meaning in self.meanings.items()
            if self._parses(part, name, meaning)
        }

    def _parses(self, part: Part, name: str, meaning: Meaning) -> bool:
        if meaning.holds != "number" or meaning.padded or name in self.ids:
            return False
        return part.is_csv or (part.is_lines and part.types[name].is_numeric())

    def _type(self, part: Part, name: str) -> DataType:
        return self._told(part).get(name, part.types[name])

    def explain(self, error: Exception) -> NoReturn:
        """Find the first value that is not what its column holds, and say so."""
        row = 0
        for part in self.table.parts:
            frame = part.open({})
            for name, meaning in (*self.meanings.items(), *self.flags.items()):
                found = self._first_bad(part, name, meaning)
                if found.height:
                    at, value = row + int(found["\x1frow"][0]), found[name][0]
                    raise self._wrong(name, at, value, meaning) from error
            row += int(frame.select(pl.len()).collect().item())
        reason = str(error).strip().splitlines()[0]
        raise DataError(f"{self.table.name} cannot be read: {reason}.") from error

    def _first_bad(self, part: Part, name: str, meaning: Meaning) -> pl.DataFrame:
        """The first row of a part whose value is not what its column holds."""
        kind, told = part.types[name], {}
        if part.is_lines and not kind.is_nested():
            kind = pl.String()
            told = {name: kind}
        raw = self._no_nulls(pl.col(name)) if kind == pl.String else pl.col(name)
        bad = raw.is_not_null() & canonical(raw, kind, meaning, strict=False).is_null()
        if kind.is_float():
            bad &= pl.col(name).is_not_nan()
        rows = part.open(told).select(name).with_row_index("\x1frow")
        return rows.filter(bad).head(1).collect()

    def _wrong(self, name: str, row: int, value: object, meaning: Meaning) -> DataError:
        text = str(value)
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        said = f"Column '{name}' holds {_words(meaning.holds)}, but {self.table.where(row)} "
        if text.strip() == name:
            return DataError(f"{said}repeats the header. Were two files joined? Remove that line.")
        if pl.Series([text]).str.contains(COMMA)[0]:
            return DataError(f"{said}holds '{shown}': a decimal comma. --decimal-comma reads them.")
        if meaning.holds == "boolean":
            return DataError(
                f"Column '{name}' must be true or false, or 1 and 0, but {self.table.where(row)} "
                f"holds '{shown}'."
            )
        if meaning.holds == "time":
            zone = " with" if meaning.zoned else " without"
            return DataError(
                f"{said}holds '{shown}', which is not written as {meaning.format},{zone} a time "
                "zone, as the first rows are."
            )
        return DataError(
            f"{said}holds '{shown}'. Correct it; if it stands for a missing value, --null "
            f"'{shown}' reads it so; if the column is one of words, --categories {name} does."
        )


def _words(holds: Holds) -> str:
    words = {"number": "numbers", "boolean": "true and false", "time": "dates", "text": "words"}
    return words.get(holds, "nothing")
