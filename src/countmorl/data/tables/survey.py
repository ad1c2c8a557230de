"""The one reading of a table: raw numbers into a temporary file, keys and tallies into memory.

Nothing but keys (episode, time), rewards and flags is held for every row, so that a table may be
larger than memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from countmorl.data.tables.columns import Source
from countmorl.data.tables.engine import pl
from countmorl.data.tables.layout import Flag, Layout
from countmorl.data.tables.store import Store
from countmorl.data.tables.tally import Tally, Twins
from countmorl.data.tables.words import Words
from countmorl.errors import DataError
from countmorl.progress import count_progress
from countmorl.spaces import MOST_ACTIONS

BATCH = 100_000
UNKNOWN = -1
"""A flag that is neither true nor false."""


@dataclass(eq=False)
class Survey:
    """All that a table holds, in the order of its rows."""

    layout: Layout
    narrow: Store
    """The raw number of every column of observation and action; NaN where it is missing."""
    wide: Store
    """Numbers that need 64 bits: times, and what expressions with lag and lead are made of."""
    wide_names: tuple[str, ...]
    tallies: list[Tally]
    words: dict[int, Words]
    """The words of columns that hold words, by their place."""
    twins: Twins
    ids: list[np.ndarray] = field(default_factory=list)
    times: list[np.ndarray] = field(default_factory=list)
    rewards: list[np.ndarray] = field(default_factory=list)
    chances: list[np.ndarray] = field(default_factory=list)
    """How likely actions were when they were taken, where the table tells."""
    flags: dict[Flag, list[np.ndarray]] = field(default_factory=dict)
    blank: list[np.ndarray] = field(default_factory=list)
    """Rows of a text file that are blank lines."""

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return self.narrow.rows

    def close(self) -> None:
        """Let go of the temporary files."""
        self.narrow.close()
        self.wide.close()

    def where(self, row: int) -> str:
        """A row as a person finds it."""
        return self.layout.frame.table.where(row)


def survey(layout: Layout, folder: Path, *, label: str = "reading") -> Survey:
    """Read the whole table once."""
    found = _begin(layout, folder)
    table = layout.frame.table
    try:
        with count_progress(label, max(1, table.rows)) as advance:
            for batch in _batches(layout, found.wide_names):
                _take(found, batch)
                advance(batch.height)
    except pl.exceptions.PolarsError as error:
        found.close()
        _explain(layout, error)
    except BaseException:
        found.close()
        raise
    found.narrow.finish()
    found.wide.finish()
    return found


def _explain(layout: Layout, error: Exception) -> None:
    """Say which value or line Polars could not read."""
    with layout.frame.table.sentences():
        layout.frame.explain(error)


def _begin(layout: Layout, folder: Path) -> Survey:
    sources, where = layout.columns, layout.frame.table.where
    shifted = [s.formula for s in (*sources, *layout.others.values()) if s.formula]
    roots = [name for formula in shifted if formula.shifts for name in formula.columns]
    elapsed = [wide_name(source) for source in sources if source.is_wide]
    wide = tuple(dict.fromkeys([*elapsed, *roots]))
    most = layout.frame.request.most_categories
    words = {
        place: Words(s.column, MOST_ACTIONS if s in layout.action else most, where)
        for place, s in enumerate(sources)
        if s.is_coded
    }
    return Survey(
        layout=layout,
        narrow=Store(folder / "narrow", len(sources), np.float32),
        wide=Store(folder / "wide", len(wide), np.float64),
        wide_names=wide,
        tallies=[Tally(source.column.name, where) for source in sources],
        words=words,
        twins=Twins(),
        flags={flag: [] for flag in layout.flags},
    )


def _batches(layout: Layout, wide: tuple[str, ...]) -> Iterator[pl.DataFrame]:
    chosen: list[pl.Expr] = []
    elapsed = {wide_name(s): s.expr for s in layout.columns if s.is_wide}
    for place, source in enumerate(layout.columns):
        if not source.is_wide:
            chosen.append(_or_nothing(source).alias(f"n{place}"))
    for place, name in enumerate(wide):
        expr = elapsed.get(name)
        expr = pl.col(name) if expr is None else expr
        chosen.append(expr.cast(pl.Float64).alias(f"w{place}"))
    if layout.episode is not None:
        chosen.append(layout.episode.hash(0).alias("id"))
        chosen.append(layout.episode.is_null().alias("no id"))
    if layout.time is not None:
        chosen.append(layout.time.alias("time"))
    for name, source in layout.others.items():
        chosen.append(_or_nothing(source).cast(pl.Float64).alias(name))
    lazy = layout.frame.lazy()
    if any(part.is_csv for part in layout.frame.table.parts):
        chosen.append(pl.all_horizontal(pl.all().is_null()).alias("blank"))
    lazy = lazy.select(chosen)
    optimizations = layout.frame.table.optimizations
    yield from lazy.collect_batches(
        chunk_size=BATCH, maintain_order=True, optimizations=optimizations
    )


def _or_nothing(source: Source) -> pl.Expr:
    """What is computed later, from the rows around, is nothing yet."""
    if source.expr is None:
        return pl.lit(None, pl.Float64)
    return source.expr


def _take(found: Survey, batch: pl.DataFrame) -> None:
    start = found.rows
    blank = batch["blank"].to_numpy() if "blank" in batch.columns else np.zeros(batch.height, bool)
    found.blank.append(np.flatnonzero(blank) + start)
    found.narrow.append(_numbers(found, batch, start, blank))
    if found.wide_names:
        found.wide.append(_matrix(batch.select(f"w{i}" for i in range(len(found.wide_names)))))
    if found.layout.episode is not None:
        _refuse_missing(found, batch["no id"].to_numpy() & ~blank, start, "episode")
        found.ids.append(batch["id"].to_numpy())
    if found.layout.time is not None:
        time = batch["time"].fill_nan(None) if batch["time"].dtype.is_float() else batch["time"]
        _refuse_missing(found, time.is_null().to_numpy() & ~blank, start, "time")
        found.times.append(time.fill_null(0).to_numpy())
    found.rewards.append(np.where(blank, 0, _column(batch["reward"])))
    if found.layout.propensity is not None:
        found.chances.append(np.where(blank, 1, _column(batch["propensity"])))
    for flag, values in found.flags.items():
        known = np.where(blank, 0, _column(batch[flag]))
        values.append(_truth(found, known, start, flag))


def _numbers(found: Survey, batch: pl.DataFrame, start: int, blank: np.ndarray) -> np.ndarray:
    """The block of raw numbers, column by column in memory; tallied on the way."""
    columns = []
    for place, source in enumerate(found.layout.columns):
        name = f"n{place}"
        if source.is_wide:
            # The number itself lies elsewhere; here it is seen only whether there is one.
            wide = pl.col(f"w{found.wide_names.index(wide_name(source))}").fill_nan(None)
            columns.append(pl.when(wide.is_not_null()).then(0.0).cast(pl.Float32).alias(name))
        elif place in found.words:
            columns.append(found.words[place].read(batch[name], start))
        else:
            columns.append(pl.col(name).cast(pl.Float32))
    block = _matrix(batch.select(columns))
    for place, tally in enumerate(found.tallies):
        source = found.layout.columns[place]
        if source.expr is None:
            continue
        plain = place not in found.words and not source.is_wide
        raw = batch[f"n{place}"] if plain else None
        tally.add(block[:, place], raw, start, blank)
    found.twins.add(block)
    return block


def wide_name(source: Source) -> str:
    """What a time is called among the wide columns."""
    return f"elapsed {source.column.name}"


def _matrix(frame: pl.DataFrame) -> np.ndarray:
    return frame.to_numpy(order="fortran")


def _column(values: pl.Series) -> np.ndarray:
    """Numbers, NaN where one is missing."""
    return values.cast(pl.Float64).to_numpy()


def _truth(found: Survey, values: np.ndarray, start: int, flag: Flag) -> np.ndarray:
    truth = np.where(np.isnan(values), UNKNOWN, values)
    wrong = np.flatnonzero(~np.isin(truth, (0, 1, UNKNOWN)))
    if len(wrong):
        name = found.layout.flags[flag].column.name
        raise DataError(
            f"`{flag}` ('{name}') must be true or false, or 1 and 0, but is "
            f"{values[wrong[0]]:g} in {found.where(start + int(wrong[0]))}."
        )
    return truth.astype(np.int8)


def _refuse_missing(found: Survey, missing: np.ndarray, start: int, role: str) -> None:
    if missing.any():
        name = getattr(found.layout.frame.request, role)
        row = start + int(missing.argmax())
        raise DataError(
            f"The {role} '{name}' is missing in {found.where(row)}. Every row needs it; correct "
            "or remove such rows."
        )
