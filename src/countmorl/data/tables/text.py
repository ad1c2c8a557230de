"""Text files of a table, looked at before Polars reads them: header, separator, encoding.

Polars tells of a fault in its own words and without a row, so where it fails the file is walked
once more, slowly, until the line is found.
"""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from countmorl.errors import DataError

SEPARATORS = (",", ";", "\t", "|")
HEAD = 65_536
KINDS = {bool: "true or false", int: "numbers", float: "numbers", list: "lists", dict: "objects"}
"""Values of JSON that no column holds together. Words may stand among numbers: they are found."""
LONGEST = 10_000_000
"""Characters of one value, beyond which a quote was surely left open."""


def open_bytes(path: Path) -> BufferedIOBase:
    """Open a file, packed or not."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else open(path, "rb")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the system and the unpacking say of a file into sentences."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"There is no file {path}. Check the path.") from error
    except PermissionError as error:
        raise DataError(f"No permission to read {path}.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}. Is it damaged or cut off?") from error


def first_line(path: Path) -> str:
    """The header of a text file; a file that is not text, or empty, is refused."""
    with explained(path), open_bytes(path) as file:
        head = file.read(HEAD)
    if not head.strip():
        raise DataError(f"{path} is empty. Wanted a line with the names of the columns, then rows.")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(f"{path} is written in UTF-16. Save it as UTF-8.")
    if b"\r" in head.strip() and b"\n" not in head:
        raise DataError(f"Lines of {path} end as on old Macs (CR). Save it with Unix's ends (LF).")
    if b"\0" in head:
        raise DataError(f"{path} is not a text file, whatever its ending says.")
    text = head.decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    if "\ufffd" in lines[0]:
        raise DataError(f"The header of {path} is not UTF-8. Save the file as UTF-8.")
    return lines[0]


def find_separator(line: str, path: Path) -> str:
    """What stands between the names of a header: the separator that it holds most."""
    if ".tsv" in path.name.lower():
        return "\t"
    return max(SEPARATORS, key=lambda each: len(_fields(line, each)))


def read_header(path: Path, separator: str | None) -> tuple[tuple[str, ...], str]:
    """Names of the columns, and what stands between them."""
    line = first_line(path)
    separator = separator or find_separator(line, path)
    names = _fields(line, separator)
    if 2 * sum(map(_is_number, names)) >= len(names):
        raise DataError(
            f"The first line of {path} holds numbers ({line[:60]}). Wanted the names of the "
            "columns there; add a header."
        )
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        places = [str(i + 1) for i, name in enumerate(names) if name == twice[0]]
        raise DataError(
            f"{path} has the column '{twice[0]}' more than once (places {', '.join(places)}). "
            "Every column needs a name of its own."
        )
    return tuple(names), separator


def find_fault(path: Path, separator: str, columns: int) -> str | None:
    """Walk a file to the first line that cannot be read, and say what is wrong with it."""
    csv.field_size_limit(LONGEST)
    with explained(path), open_bytes(path) as file:
        reader = csv.reader(_lines(file), delimiter=separator, strict=True)
        began = 1
        try:
            for row in reader:
                if len(row) > columns:
                    return (
                        f"{path}: line {reader.line_num:,} (row {began - 1:,}) has {len(row)} "
                        f"values, but the header has {columns} names. Is there a separator within "
                        "a value? Put such values into quotes."
                    )
                began += 1
        except UnicodeDecodeError:
            line = reader.line_num + 1
            return f"{path}: line {line:,} (row {line - 1:,}) is not UTF-8. Save the file as UTF-8."
        except csv.Error:
            return (
                f"{path}: a quote that is opened in row {began - 1:,} (about line {began:,}) is "
                'not closed as it should be. Write a quote within a value as "".'
            )
    return None


def find_bad_json(path: Path) -> str | None:
    """Walk a file of JSON lines to the first one that is no object, or holds what cannot be."""
    kinds: dict[str, str] = {}
    with explained(path), open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                found = json.loads(line) if line.strip() else {}
            except (ValueError, RecursionError) as error:
                return f"{path}: line {number:,} is not JSON: {error}. Is the file cut off there?"
            if not isinstance(found, dict):
                return (
                    f"{path}: line {number:,} is not an object. Wanted one "
                    'on every line, such as {"lab": 4.2, "dose": 1}.'
                )
            if odd := next(filter(None, (_odd(n, v, kinds) for n, v in found.items())), None):
                return f"{path}: column {odd} in line {number:,}."
    return None


def _odd(name: str, value: object, kinds: dict[str, str]) -> str | None:
    """What Polars does not take in a column; `kinds` are those of the lines before."""
    kind = KINDS.get(type(value))
    if isinstance(value, int) and abs(value) >= 2**63:
        return f"'{name}' holds a number of {len(str(value))} digits, more than 64 bits can hold,"
    if kind is None or kind == kinds.setdefault(name, kind):
        return None
    return f"'{name}' holds {kinds[name]} and {kind}, the latter first"


def count_rows(path: Path, sample: int = 1_000_000) -> int:
    """About how many rows a text file has, by its size and its first lines."""
    with explained(path), open_bytes(path) as file:
        head = file.read(sample)
    lines = max(1, head.count(b"\n"))
    # A packed file is some times as long as it looks; nobody counts on the number.
    size = path.stat().st_size * (4 if path.suffix.lower() == ".gz" else 1)
    return lines if len(head) < sample else int(size / len(head) * lines)


def _lines(file: Iterable[bytes]) -> Iterator[str]:
    for line in file:
        yield line.decode("utf-8")


def _fields(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return line.split(separator)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
