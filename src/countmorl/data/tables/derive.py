"""Expressions that look at the rows around (lag, lead), computed once the rows are in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from countmorl.data.tables.columns import Source
from countmorl.data.tables.engine import pl
from countmorl.data.tables.episodes import Order
from countmorl.data.tables.expressions import Formula, unreadable
from countmorl.data.tables.frame import TYPES
from countmorl.data.tables.survey import Survey
from countmorl.errors import ConfigError

CHUNK = 200_000


@dataclass(frozen=True, eq=False)
class Span:
    """Some rows in their order, with those around them that an expression looks at."""

    rows: slice | np.ndarray
    """Where the rows themselves lie in the table."""
    inner: slice
    """Where they lie among those that are around."""
    frame: pl.DataFrame
    """The columns that expressions need, around."""
    episode: np.ndarray


def check_shifted(source: Source, holds: dict[str, str]) -> None:
    """Refuse what cannot be computed from rows around."""
    formula = source.formula
    if formula is None or not formula.shifts:
        return
    words = [name for name in formula.columns if holds[name] == "text"]
    if words or source.column.kind not in ("number", "boolean"):
        name = words[0] if words else source.column.name
        raise ConfigError(
            f"'{formula.text}': lag and lead are for numbers, but '{name}' holds words or dates. "
            "What was seen and done before can be part of the observation by --history 2."
        )


def derive(found: Survey, order: Order, reward: np.ndarray, flags: dict) -> None:
    """Compute what looks at other rows, and put it where all other numbers are."""
    layout = found.layout
    holds = {name: meaning.holds for name, meaning in layout.frame.meanings.items()}
    columns = [(i, s) for i, s in enumerate(layout.columns) if _is_shifted(s)]
    others = [(reward, layout.reward)] + [(flags[f], s) for f, s in layout.flags.items()]
    others = [(target, source) for target, source in others if _is_shifted(source)]
    for source in [source for _, source in (*columns, *others)]:
        check_shifted(source, holds)
    if not columns and not others:
        return
    formulas = [source.formula for _, source in (*columns, *others) if source.formula]
    for span in _spans(found, order, formulas):
        for place, source in columns:
            raw = _compute(source, span)
            values = raw.cast(pl.Float32).to_numpy()
            found.narrow.put(span.rows, place, values)
            # Missing values are told by their rows in the table, which may be in another order.
            _tally(found, place, values, raw, span.rows)
        for target, source in others:
            target[span.rows] = _numbers(_compute(source, span), target.dtype)


def _is_shifted(source: Source) -> bool:
    return source.formula is not None and bool(source.formula.shifts)


def _numbers(values: pl.Series, dtype: np.dtype) -> np.ndarray:
    numbers = values.cast(pl.Float64).to_numpy()
    return numbers if dtype.kind == "f" else np.where(np.isnan(numbers), -1, numbers).astype(dtype)


def _tally(
    found: Survey, place: int, values: np.ndarray, raw: pl.Series, rows: slice | np.ndarray
) -> None:
    tally = found.tallies[place]
    start = rows.start if isinstance(rows, slice) else 0
    first = tally.first_missing
    tally.add(values, raw, start)
    missing = np.isnan(values)
    if not isinstance(rows, slice) and missing.any():
        earliest = int(rows[missing].min())
        tally.first_missing = earliest if first is None else min(first, earliest)


def _spans(found: Survey, order: Order, formulas: list[Formula]) -> Iterator[Span]:
    reach = max(abs(shift.by) for formula in formulas for shift in formula.shifts)
    episode = np.cumsum(order.starts)
    names = [name for formula in formulas for name in formula.columns]
    needed = list(dict.fromkeys(names))
    places = [found.wide_names.index(name) for name in needed]
    count = len(order.starts)
    for start in range(0, count, CHUNK):
        stop = min(start + CHUNK, count)
        low, high = max(0, start - reach), min(count, stop + reach)
        around = slice(low, high) if order.rows is None else order.rows[low:high]
        values = found.wide.read(around)
        columns = [
            _typed(found, name, values[:, place])
            for name, place in zip(needed, places, strict=True)
        ]
        rows = slice(start, stop) if order.rows is None else order.rows[start:stop]
        inner = slice(start - low, stop - low)
        yield Span(rows, inner, pl.DataFrame(columns), episode[low:high])


def _typed(found: Survey, name: str, values: np.ndarray) -> pl.Series:
    series = pl.Series(name, values).fill_nan(None)
    kind = TYPES[found.layout.frame.meanings[name].holds]
    return series.cast(pl.Int64).cast(kind) if kind == pl.Datetime else series.cast(kind)


def _compute(source: Source, span: Span) -> pl.Series:
    formula = source.formula
    assert formula is not None
    added = []
    for shift in formula.shifts:
        before = np.arange(len(span.episode)) - shift.by
        inside = (before >= 0) & (before < len(span.episode))
        at = np.where(inside, before, 0)
        same = inside & (span.episode[at] == span.episode)
        column = span.frame[shift.column].gather(at)
        kept = pl.select(pl.when(pl.lit(pl.Series(same))).then(pl.lit(column))).to_series()
        added.append(kept.alias(shift.alias))
    try:
        whole = span.frame.with_columns(added).select(formula.expr.alias("value")).to_series()
    except pl.exceptions.PolarsError as error:
        raise unreadable(formula.text, f"'{source.column.name}'", error) from error
    return whole[span.inner].cast(pl.Float64)
