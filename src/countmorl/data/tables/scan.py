"""Files, folders, wild-cards and DataFrames as one table, opened lazily by Polars."""

from __future__ import annotations

import glob
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_IFDIR
from typing import Any

from countmorl.data.foreign import kind_of, require_file, user_path
from countmorl.data.tables.engine import DataType, pl
from countmorl.data.tables.request import Request
from countmorl.data.tables.text import (
    count_rows,
    explained,
    find_bad_json,
    find_fault,
    open_bytes,
    read_header,
)
from countmorl.errors import DataError, MissingExtraError
from countmorl.extras import require
from countmorl.schema import NULLS

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
"""What a file is, by its ending; text may be packed (.csv.gz)."""
PEEK = 10_000
"""Rows by which it is judged what columns hold."""

Types = Mapping[str, DataType]


@dataclass(frozen=True, eq=False)
class Part:
    """Files of one table that have the same columns, or a DataFrame."""

    files: tuple[Path, ...]
    types: dict[str, DataType]
    """Types of the columns as they lie there; every column of a CSV is text."""
    opener: Callable[[Sequence[Path], Types], pl.LazyFrame]
    """Open files; columns of text may be read as another type at once."""
    explain: Callable[[Path], str | None] = lambda path: None
    """Find what is wrong with a file that Polars could not read."""
    is_csv: bool = False
    is_lines: bool = False
    rows: Callable[[], int] = lambda: 0
    """About how many rows there are."""

    def open(self, types: Types) -> pl.LazyFrame:
        """All rows."""
        return self.opener(self.files, types)


@dataclass(frozen=True, eq=False)
class Table:
    """Everything that was named, as one table."""

    name: str
    parts: tuple[Part, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that every part has, in the order of the first."""
        first, *others = self.parts
        return tuple(name for name in first.types if all(name in each.types for each in others))

    @property
    def absent(self) -> dict[str, Path]:
        """Columns that some files have and others do not, each with one that lacks it."""
        every = {name for part in self.parts for name in part.types}
        lacking = [(n, part) for part in self.parts for n in every.difference(part.types)]
        return {name: part.files[0] for name, part in lacking}

    @property
    def rows(self) -> int:
        """About how many rows there are."""
        return sum(part.rows() for part in self.parts)

    def peek(self, names: Sequence[str], rows: int = PEEK) -> pl.DataFrame:
        """The first rows."""
        part = self.parts[0]
        with self.sentences():
            if part.is_lines:
                return read_lines(part.files[0], rows).select(names)
            first = part.open({}).select(names).head(rows)
            return first.collect(optimizations=self.optimizations)

    @property
    def optimizations(self) -> pl.QueryOptFlags:
        """How Polars may read the table.

        It notices a line of text with too many values only where it reads all columns; where it
        leaves some out, the values of such a line would land in the wrong ones.
        """
        return pl.QueryOptFlags(projection_pushdown=not any(p.is_csv for p in self.parts))

    def where(self, row: int) -> str:
        """A row, counted from 0 in the whole table, as a person finds it: from 1, in its file."""
        files = [(part, file) for part in self.parts for file in part.files]
        for part, file in files if len(files) > 1 else ():
            count = part.opener([file], {}).select(pl.len()).collect().item()
            if row < count:
                return f"row {row + 1:,} of {file}"
            row -= count
        return f"row {row + 1:,}" + (f" of {files[0][1]}" if len(files) == 1 else "")

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Say in a sentence what Polars could not read."""
        try:
            yield
        except (pl.exceptions.PolarsError, OSError) as error:
            for part in self.parts:
                for file in part.files:
                    if fault := part.explain(file):
                        raise DataError(fault) from error
            reason = str(error).strip().splitlines()
            raise DataError(
                f"{self.name} cannot be read: {reason[0] if reason else type(error).__name__}."
            ) from error


def open_table(source: Any, request: Request) -> Table:
    """Open what a user names: paths, folders, wild-cards, a DataFrame, columns, or rows."""
    if isinstance(source, (str, Path)):
        source = [source]
    if isinstance(source, Sequence) and source and all(isinstance(s, (str, Path)) for s in source):
        files = find_files(source)
        name = str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
        return Table(name, tuple(_parts(files, request)))
    frame = as_frame(source)
    types = dict(frame.collect_schema())
    rows = lambda: int(frame.select(pl.len()).collect().item())  # noqa: E731
    return Table("the table", (Part((), types, lambda *_: frame, rows=rows),))


def as_frame(source: Any) -> pl.LazyFrame:
    """A DataFrame of any library, columns by name, or a list of rows, as a lazy frame of Polars."""
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
    try:
        if isinstance(source, Mapping):
            return pl.DataFrame(source).lazy()
        if isinstance(source, Sequence) and all(isinstance(row, Mapping) for row in source):
            if not source:
                raise DataError("The table has no rows.")
            return pl.from_dicts(source, infer_schema_length=None).lazy()
        native = require("narwhals").from_native(source)
        native = native.collect() if hasattr(native, "collect") else native
        return native.to_polars().lazy()
    except MissingExtraError:
        raise
    except (pl.exceptions.PolarsError, ImportError, TypeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0][:200]
        raise DataError(
            f"A table is a path, several of them, a DataFrame, or a list of rows; got "
            f"{type(source).__name__}, which cannot be read: {reason}"
        ) from error


def find_files(sources: Iterable[str | Path]) -> list[Path]:
    """Every file that is named, of folders and wild-cards in the order of names."""
    files = [file for source in sources for file in _found(str(source))]
    kinds = {format_of(file) for file in files}
    if len(kinds) > 1:
        raise DataError(
            f"The files are of several formats ({', '.join(sorted(kinds))}): "
            f"{', '.join(map(str, files[:3]))}, ... Import them one format at a time."
        )
    return files


def _found(source: str) -> list[Path]:
    path = user_path(source)
    kind = kind_of(path)
    if kind == S_IFDIR:
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        shown = [f for f in inside if not f.name.startswith((".", "_")) and _ending(f) in FORMATS]
        if not shown:
            raise DataError(f"The folder {path} holds no table ({', '.join(FORMATS)}).")
        return shown
    if kind is None and glob.has_magic(source):
        matching = sorted(map(Path, glob.glob(str(path), recursive=True)))
        if not matching:
            raise DataError(f"No file matches {source}.")
        return [file for each in matching for file in _found(str(each))]
    require_file(path)
    return [path]


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() if ending == ".gz" else ending


def format_of(path: Path) -> str:
    """What kind of file it is; an unknown ending is refused."""
    kind = FORMATS.get(_ending(path))
    packed = path.suffix.lower() == ".gz"
    if kind is None or (packed and kind not in ("csv", "lines")):
        hints = {".json": " Write one object on every line (.jsonl).", ".xlsx": " Save it as CSV."}
        raise DataError(
            f"{path} has the ending '{path.suffix}', which is no table's that is known here: "
            f"{', '.join(FORMATS)} (text also .gz).{hints.get(_ending(path), '')}"
        )
    return kind


def _parts(files: list[Path], request: Request) -> list[Part]:
    """Files with the same columns together, so that Polars reads them at once."""
    kind = format_of(files[0])
    groups: dict[Any, list[Path]] = {}
    for file in files:
        key = read_header(file, request.separator) if kind == "csv" else _types(kind, file)
        groups.setdefault(key, []).append(file)
    if kind == "csv":
        return [_csv(paths, names, mark, request) for (names, mark), paths in groups.items()]
    return [_typed(kind, paths, dict(key)) for key, paths in groups.items()]


def _csv(files: list[Path], names: tuple[str, ...], separator: str, request: Request) -> Part:
    def open(files: Sequence[Path], types: Types) -> pl.LazyFrame:
        return pl.scan_csv(
            list(files),
            separator=separator,
            schema_overrides=dict(types),
            infer_schema=False,
            null_values=[*NULLS, *request.null],
            decimal_comma=request.decimal_comma,
        )

    text: dict[str, DataType] = dict.fromkeys(names, pl.String())
    explain = partial(find_fault, separator=separator, columns=len(names))
    count = lambda: sum(map(count_rows, files))  # noqa: E731
    return Part(tuple(files), text, open, explain, is_csv=True, rows=count)


def _scan(kind: str, files: Sequence[Path]) -> pl.LazyFrame:
    if kind == "parquet":
        hive = any("=" in folder for file in files for folder in file.parts[:-1])
        return pl.scan_parquet(list(files), hive_partitioning=hive, glob=False)
    if kind == "arrow":
        return pl.scan_ipc(list(files))
    return pl.scan_ndjson(list(files), infer_schema_length=PEEK)


def read_lines(file: Path, rows: int) -> pl.DataFrame:
    """The first rows of a file of JSON lines. Polars alone would look at later ones too."""
    with explained(file), open_bytes(file) as lines:
        head = b"".join(itertools.islice(lines, rows))
    return pl.read_ndjson(head, infer_schema_length=None)


def _types(kind: str, file: Path) -> tuple[tuple[str, DataType], ...]:
    """Names and types of a file that tells them."""
    if file.stat().st_size == 0:
        raise DataError(f"{file} is empty.")
    try:
        found = read_lines(file, PEEK) if kind == "lines" else _scan(kind, [file])
        return tuple(found.collect_schema().items())
    except (pl.exceptions.PolarsError, OSError) as error:
        fault = find_bad_json(file) if kind == "lines" else None
        reason = str(error).strip().splitlines()[0]
        raise DataError(
            fault or f"{file} is not a readable {kind} file: {reason}. Is it damaged or cut off?"
        ) from error


def _typed(kind: str, files: list[Path], types: dict[str, DataType]) -> Part:
    def open(files: Sequence[Path], told: Types) -> pl.LazyFrame:
        if kind != "lines" or not told:
            return _scan(kind, files)
        return pl.scan_ndjson(list(files), schema={**types, **told})

    def count() -> int:
        if kind == "lines":
            return sum(map(count_rows, files))
        return int(_scan(kind, files).select(pl.len()).collect().item())

    explain = find_bad_json if kind == "lines" else lambda path: None
    return Part(tuple(files), types, open, explain, is_lines=kind == "lines", rows=count)
