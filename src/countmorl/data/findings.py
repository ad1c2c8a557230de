"""`Finding`: one thing about a log that a person should know, whoever has found it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (`error`: training would fail or mislead) or odd (`warning`)."""

    level: Literal["error", "warning"]
    kind: str
    message: str
    rows: tuple[int, ...] = ()
    """The first rows concerned."""
    count: int = 0
    """How many rows (or columns) are concerned."""

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-able values."""
        return asdict(self)
