"""Dates as text, read as the log writes them. The standard library alone."""

from __future__ import annotations

import re
from datetime import datetime

OWN = {
    "%.f": ".%f",
    "%#z": "%z",
    "%F": "%Y-%m-%d",
    "%T": "%H:%M:%S",
    "%R": "%H:%M",
    "%D": "%m/%d/%y",
    "%e": "%d",
    "%k": "%H",
}
"""What the importer's formats say in a way of their own, as Python says it."""
ZONE = re.compile(r"\s*(?:([zZ])|([+-]\d{2})(?::?(\d{2}))?)$")


def read_date(text: str, written: str) -> datetime | None:
    """The date that a text is, in the log's format or as 2024-12-31T14:30; None where it is none.

    Without a format only the latter is read: in all others two dates could be mistaken for each
    other.
    """
    text = text.strip()
    if written:
        found = next((found for each in _formats(written) if (found := _read(text, each))), None)
        if found or written.startswith(("%Y", "%F")):  # 2024-12-31 could be meant otherwise there.
            return found
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _formats(written: str) -> tuple[str, ...]:
    """A format of the importer in Python's words: decimals of seconds may be there or not."""
    whole = written
    for theirs, ours in OWN.items():
        whole = whole.replace(theirs, ours)
    return (whole, whole.replace(".%f", "")) if "%.f" in written else (whole,)


def _read(text: str, written: str) -> datetime | None:
    try:
        return datetime.strptime(_zoned(text) if written.endswith("%z") else text, written)
    except (ValueError, re.error):
        return None


def _zoned(text: str) -> str:
    """The text with its distance from UTC as Python writes it: +0200."""
    found = ZONE.search(text)
    if found is None:
        return text
    zone = "+0000" if found[1] else f"{found[2]}{found[3] or '00'}"
    return text[: found.start()] + zone
