"""How results are printed: tables for people, JSON for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table


def print_json(value: Any) -> None:
    """Print one JSON document on one line."""
    print(json.dumps(value), flush=True)


def print_pairs(pairs: Mapping[str, Any]) -> None:
    """Print a list of names and values."""
    width = max(map(len, pairs))
    for name, value in pairs.items():
        print(f"{name:<{width}}  {value}")


def print_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a plain table."""
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    # Where nobody looks at a terminal, rich assumes 80 columns and would cut names off.
    Console(width=None if sys.stdout.isatty() else 240).print(table)


def points(mean: float | None, spread: float | None = None) -> str:
    """Write a score with its spread, or say that there is none."""
    if mean is None:
        return "no reference known"
    return f"{mean:.1f}" if spread is None else f"{mean:.1f} ± {spread:.1f}"
