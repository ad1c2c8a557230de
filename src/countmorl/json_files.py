"""The one reader of JSON files of ours: whatever they hold, a tree of sane size or a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from countmorl.disk import read_bytes
from countmorl.errors import RunError

MOST_BYTES, MOST_OF_LINES = 64_000_000, 1_000_000_000
"""How large a JSON file may be, and one that has a line for every epoch."""
MOST_DIGITS = 19
"""Digits of a whole number: beyond them it is no number of ours, and no float any more."""
DEEPEST = 40
"""Tables within tables: what is deeper ends in a RecursionError where it is copied."""


def parse_text(text: str | bytes) -> Any:
    """The tree that a text of JSON holds; a `ValueError` says what is wrong with it."""
    try:
        value = json.loads(text, parse_int=_whole)
        _check(value, 0)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def parse_json(path: Path, check: Callable[[Any], bool], wanted: str) -> Any:
    """Read a JSON file and check its form; anything else is a `RunError` that says `wanted`."""
    if not path.exists():
        raise RunError(f"There is no file {path}; wanted {wanted}.")
    try:
        value = parse_text(read_bytes(path, MOST_BYTES))
    except ValueError as error:
        raise RunError(f"{path} is not readable JSON ({error}); wanted {wanted}.") from error
    if not check(value):
        raise RunError(f"{path} does not hold {wanted}.")
    return value


def parse_lines(path: Path) -> list[Any]:
    """The JSON of every line of a file; an unfinished last line is passed over."""
    try:
        return [parse_text(line) for line in read_bytes(path, MOST_OF_LINES).split(b"\n")[:-1]]
    except ValueError as error:
        raise RunError(f"{path} is damaged: {error}.") from error


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise ValueError(f"the number {digits[:12]}... has {len(digits)} digits")
    return int(digits)


def _check(value: Any, depth: int) -> None:
    """Refuse trees that are too deep, and text that no file or terminal takes."""
    if depth > DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, str):
        value.encode()  # Half of a surrogate pair is a UnicodeEncodeError, which is a ValueError.
    elif isinstance(value, list):
        for each in value:
            _check(each, depth + 1)
    elif isinstance(value, dict):
        for name, each in value.items():
            name.encode()
            _check(each, depth + 1)
