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


def derive(
    found: Survey,
    order: Order,
    reward: np.ndarray,
    flags: dict,
    chance: np.ndarray | None = None,
) -> None:
    """Compute what looks at other rows, and put it where all other numbers are."""
    layout = found.layout
    columns = [(i, s) for i, s in enumerate(layout.columns) if s.is_shifted]
    targets = {"reward": reward, "propensity": chance, **flags}
    others = [(targets[role], s) for role, s in layout.others.items() if s.is_shifted]
    if not columns and not others:
        return
    formulas = [source.formula for _, source in (*columns, *others) if source.formula]
    for span in _spans(found, order, formulas):
        for place, source in columns:
            raw = _compute(source, span)
            values = raw.cast(pl.Float32).to_numpy()
            found.narrow.put(span.rows, place, values)
            rows = span.rows.start if isinstance(span.rows, slice) else span.rows
            found.tallies[place].add(values, raw, rows)
        for target, source in others:
            target[span.rows] = _numbers(_compute(source, span), target.dtype)


def _numbers(values: pl.Series, dtype: np.dtype) -> np.ndarray:
    numbers = values.cast(pl.Float64).to_numpy()
    return numbers if dtype.kind == "f" else np.where(np.isnan(numbers), -1, numbers).astype(dtype)


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
