"""What a row of the table of formats says."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustness.damage import Damage, by_bytes


@dataclass(frozen=True)
class Format:
    """A file format under attack."""

    make: Callable[[Path], Path]
    """Writes valid files into an empty folder; returns the one that is damaged."""
    read: Callable[[Path], Any]
    """Reads the damaged file, or what it belongs to, as a user does."""
    damages: tuple[Damage, ...] = (by_bytes,)
    """Ways to spoil the file; each is used equally often."""
    slow: bool = False
    """Whether reading one file takes long, so that the suite reads few of them."""
