"""The whole way: from a table to a dataset, in memory or in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.data.findings import Finding
from countmorl.data.propensity import described
from countmorl.data.tables.bounds import Bounds
from countmorl.data.tables.columns import resolve_exogenous
from countmorl.data.tables.derive import derive
from countmorl.data.tables.encode import settle
from countmorl.data.tables.engine import explained_panic
from countmorl.data.tables.episodes import Order, Rows, gap_length, put_in_order
from countmorl.data.tables.layout import Layout, lay_out, no_rows
from countmorl.data.tables.missing import refuse_improbable, refuse_infinite, refuse_missing
from countmorl.data.tables.output import Make, judge_actions, write_rest, write_steps
from countmorl.data.tables.request import SHARED, Request, request_of
from countmorl.data.tables.scan import open_table
from countmorl.data.tables.steps import known_flags, make_steps
from countmorl.data.tables.survey import Survey, survey
from countmorl.data.tables.toml import read_request
from countmorl.files import atomic
from countmorl.schema import Column, Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Imported:
    """What an import understood and found."""

    schema: Schema
    rows: int
    """Rows of the table."""
    steps: int
    episodes: int
    terminated: int
    truncated: int
    dropped: int
    """Rows that were dropped since a value was missing."""
    bounds: tuple[Bounds, ...]
    """Bounds of actions that are numbers."""
    shares: dict[str, float]
    """How often each of the discrete actions was taken."""
    propensity: dict[str, float] | None
    """How likely logged actions were, where the table tells: least, middle and greatest."""
    missing: dict[str, int]
    """Values that were missing, by column."""
    findings: tuple[Finding, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-able values."""
        return asdict(self)


def import_file(source: Any, request: Request, out: Path) -> Imported:
    """Make an HDF5 file of a table; it is whole, or it is not there."""
    with atomic(out) as temporary:
        with _scratch(out.parent) as folder, h5py.File(temporary, "w") as file:

            def make(name: str, shape: tuple[int, ...], dtype: type) -> h5py.Dataset:
                return file.create_dataset(name, shape, dtype)

            return _import(source, request, folder, make)


def import_arrays(source: Any, request: Request, *, name: str) -> tuple[Dataset, Imported]:
    """Make a dataset of a table in memory."""
    arrays: dict[str, np.ndarray] = {}

    def make(name: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        arrays[name] = np.empty(shape, dtype)
        return arrays[name]

    with _scratch(None) as folder:
        found = _import(source, request, folder, make)
    return Dataset.of(Fields.of(arrays, name=name)), found


@contextmanager
def _scratch(beside: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=".import-", dir=beside) as folder:
        yield Path(folder)


@explained_panic()
def _import(source: Any, request: Request, folder: Path, make: Make) -> Imported:
    table = open_table(source, request)
    layout = lay_out(table, request)
    gap = gap_length(request.gap, dated=layout.dated, has_time=layout.time is not None)
    # Whatever is wrong with the columns themselves is said before hours of reading.
    _schema(layout, [source.column for source in layout.columns], request)
    found = survey(layout, folder)
    try:
        return _finish(found, request, gap, make)
    finally:
        found.close()


def _finish(found: Survey, request: Request, gap: float | None, make: Make) -> Imported:
    if not found.blank:
        raise no_rows(found.layout.frame.table, 0)
    blank = np.concatenate(found.blank)
    if found.rows - len(blank) < 2:
        raise no_rows(found.layout.frame.table, found.rows - len(blank))
    order, reward, chance, flags = _ordered(found, gap, blank)
    derive(found, order, reward, flags, chance)
    refuse_missing(found, reward, flags)
    for tally in found.tallies:
        tally.check_precision()
    refuse_infinite(found, reward)
    refuse_improbable(found, chance)
    truth = known_flags(found, flags)
    steps = make_steps(found, order, reward, truth, request.frame_skip, chance)
    readers = settle(found, history=request.history)
    schema = _schema(found.layout, [reader.column for reader in readers], request)
    actions = write_steps(found, steps, readers, schema, make)
    bounds, shares, odd = judge_actions(schema, actions, request, found, steps)
    write_rest(schema, actions, bounds, steps, make)
    return Imported(
        schema=schema,
        rows=found.rows,
        steps=len(steps.reward),
        episodes=len(steps.ends),
        terminated=int(steps.terminated.sum()),
        truncated=int(steps.truncated.sum()),
        dropped=steps.dropped,
        bounds=tuple(bounds),
        shares=shares,
        propensity=described(steps.propensity),
        missing={tally.name: tally.missing for tally in found.tallies if tally.missing},
        findings=(*order.findings, *steps.findings, *_columns(found, schema), *odd),
    )


def _ordered(
    found: Survey, gap: float | None, blank: np.ndarray
) -> tuple[Order, np.ndarray, np.ndarray | None, dict]:
    """Rows in order; rewards, chances and flags of the whole table, in the table's order."""
    ids = np.concatenate(found.ids) if found.ids else None
    times = np.concatenate(found.times) if found.times else None
    flags = {flag: np.concatenate(values) for flag, values in found.flags.items()}
    reward = np.concatenate(found.rewards)
    chance = np.concatenate(found.chances) if found.chances else None
    for parts in (found.ids, found.times, found.rewards, found.chances):
        parts.clear()  # They are held once, not twice.
    first = known_flags(found, {"flag": flags["flag"]})["flag"] if "flag" in flags else None
    if not len(blank):
        order = put_in_order(ids, times, first, gap, found.rows, Rows(found.where))
        return order, reward, chance, flags
    present = np.delete(np.arange(found.rows), blank)
    ids, times, first = (None if k is None else k[present] for k in (ids, times, first))
    table = Rows(found.where, present)
    order = put_in_order(ids, times, first, gap, len(present), table)
    rows = present if order.rows is None else present[order.rows]
    odd = Rows(found.where).finding("blank-rows", blank, "lines of the text are blank; left out")
    return replace(order, rows=rows, findings=(*order.findings, odd)), reward, chance, flags


def _schema(layout: Layout, columns: Sequence[Column], request: Request) -> Schema:
    split = len(layout.obs)
    obs, action = tuple(columns[:split]), tuple(columns[split:])
    named = {name: getattr(request, name) for name in SHARED}
    named["exogenous"] = resolve_exogenous(request.exogenous, [column.name for column in obs])
    named["gap"] = None if request.gap is None else str(request.gap)
    return Schema(obs=obs, action=action, **named)


def _columns(found: Survey, schema: Schema) -> Iterator[Finding]:
    """Columns that tell nothing, or nothing new."""
    pairs = zip(found.layout.obs, schema.obs, strict=True)
    whole = [f"'{c.name}'" for s, c in pairs if s.column.missing == "median" != c.missing]
    if whole:
        text = f"nothing is missing in {', '.join(whole)}, so missing values are refused there"
        yield Finding("warning", "never-missing", text, count=len(whole))
    names = [source.column.name for source in found.layout.columns]
    constant = {
        place
        for place, tally in enumerate(found.tallies)
        if tally.is_constant and not found.layout.columns[place].is_wide
    }
    for place in sorted(constant):
        if place < len(found.layout.obs):
            text = f"column '{names[place]}' never changes; it carries no information"
            yield Finding("warning", "constant", text, count=1)
    for group in found.twins.groups or []:
        equal = [f"'{names[place]}'" for place in group if place not in constant]
        if len(equal) > 1:
            text = f"columns {', '.join(equal)} are equal in every row"
            yield Finding("warning", "duplicate-column", text, count=len(equal))


def from_table(
    source: Any,
    *,
    obs: str | Sequence[str] = (),
    action: str | Sequence[str] = (),
    reward: str | None = None,
    propensity: str | None = None,
    schema: Schema | str | Path | None = None,
    name: str | None = None,
    **options: Any,
) -> Dataset:
    """Make a dataset of a table: a DataFrame of any library, paths of files, or a list of rows.

    `obs` and `action` name columns, by wild-cards too (`lab_*`), or compute them
    (`"rise = temp - lag(temp)"`); `reward` is a column or an expression, and so is
    `propensity`, how likely each of discrete actions was when it was taken. Further options are
    those of `countmorl data import`: `columns` (what is said of single ones, by name:
    `{"visit": {"kind": "weekday"}}`), `episode`, `time`, `gap`, `flag`, `terminated`, `truncated`,
    `missing`, `history`, `frame_skip`, `exogenous`, `categories`, `scale`, `actions`,
    `action_low`, `action_high`, `null`, `decimal_comma`, `separator`, `date_format`,
    `most_categories`. `schema` is a `Schema` or the path of a schema file, which the options
    change.
    """
    given = {"obs": obs, "action": action, "reward": reward, "propensity": propensity, **options}
    request = complete(given, schema)
    where = source if isinstance(source, (str, Path)) else None
    dataset, _ = import_arrays(
        source, request, name=name or (Path(where).stem if where else "table")
    )
    return dataset


def complete(options: Mapping[str, Any], schema: Schema | str | Path | None) -> Request:
    """What options ask for, and beyond them a schema. None and nothing are not said."""
    said = {name: value for name, value in options.items() if value is not None and value != ()}
    request = request_of(said)
    if schema is None:
        return request
    base = Request.of(schema) if isinstance(schema, Schema) else read_request(Path(schema))
    return request.over(base, said)
