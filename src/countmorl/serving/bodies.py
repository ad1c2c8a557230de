"""What a request says, read strictly: an actuator may be behind the answer."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

from countmorl.errors import DataError
from countmorl.runtime.values import shown

MOST_ROWS = 1_000
"""Observations that one request may ask for."""
KEYS = ("obs", "row", "rows")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked for: numbers in order, or rows by name; one of them, or several."""

    numbers: bool
    several: bool
    what: list[Any]


def read_body(body: bytes) -> Asked:
    """Understand the body of a request; whatever is odd about it is a `DataError`."""
    said = strict_json(body)
    wanted = 'Wanted {"obs": [...]}, {"obs": [[...], ...]}, {"row": {...}} or {"rows": [{...}]}'
    if not isinstance(said, dict) or len(said) != 1 or next(iter(said)) not in KEYS:
        got = f"keys {', '.join(map(repr, said)) or 'none'}" if isinstance(said, dict) else None
        raise DataError(f"{wanted}; got {got or shown(said)}.")
    ((key, what),) = said.items()
    if key == "row":
        return Asked(numbers=False, several=False, what=[_row(what, None)])
    if not isinstance(what, list):
        raise DataError(f"`{key}` must be a list, got {shown(what)}. {wanted}.")
    if key == "obs" and not (what and isinstance(what[0], list)):
        return Asked(numbers=True, several=False, what=[_numbers(what, None)])
    if not 0 < len(what) <= MOST_ROWS:
        raise DataError(f"`{key}` has {len(what):,} entries; wanted 1 to {MOST_ROWS:,}.")
    read = _numbers if key == "obs" else _row
    return Asked(
        numbers=key == "obs",
        several=True,
        what=[read(each, place) for place, each in enumerate(what)],
    )


def strict_json(body: bytes) -> Any:
    """JSON without NaN, infinities, numbers beyond all floats, and keys that are said twice."""
    try:
        return json.loads(
            body.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_distinct,
        )
    except UnicodeDecodeError as error:
        raise DataError("The body is not text in UTF-8.") from error
    except RecursionError as error:
        raise DataError("The body is nested too deeply.") from error
    except ValueError as error:
        raise DataError(f"The body is not JSON: {error}.") from error


def _refuse_constant(word: str) -> NoReturn:
    raise DataError(f"The body holds {word}, which is no number of JSON. No action is safe for it.")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise DataError(f"The body holds {text[:20]}, which is more than a number can be.")
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"'{twice[:40]}' is said twice. Which one counts?")
    return found


def _numbers(values: Any, place: int | None) -> list[float]:
    where = "`obs`" if place is None else f"`obs[{place}]`"
    if not isinstance(values, list):
        raise DataError(f"{where} must be a list of numbers, got {shown(values)}.")
    for index, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise DataError(f"{where} holds {shown(value)} at place {index}; wanted a number.")
    return values


def _row(row: Any, place: int | None) -> dict[str, Any]:
    where = "`row`" if place is None else f"`rows[{place}]`"
    if not isinstance(row, dict):
        raise DataError(f"{where} must hold values by the names of columns, got {shown(row)}.")
    return row
