"""The one reader of TOML files: whatever lies there, a table or a sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from countmorl.disk import read_bytes
from countmorl.errors import ConfigError, RunError

MOST = 1 << 20
"""Bytes that a file which people write may have."""


def parse_toml(path: Path, what: str) -> dict[str, Any]:
    """The table that a TOML file holds; what is none is a `ConfigError` that says `what`."""
    if not path.exists():
        raise ConfigError(f"There is no {what} {path}.")
    try:
        found = tomllib.loads(read_bytes(path, MOST).decode())
        _check(found)
        return found
    except RunError as error:
        raise ConfigError(f"{path} is not a readable {what}: {error}") from error
    # Bytes that are no text, text that is no TOML, and numbers of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not a readable {what}: {error}.") from error


def _check(value: Any) -> None:
    """Refuse whole numbers that TOML does not know, though Python does."""
    if isinstance(value, int) and abs(value) >= 1 << 63:
        raise ValueError("it holds a whole number of more than 64 bits")
    if isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            _check(each)
