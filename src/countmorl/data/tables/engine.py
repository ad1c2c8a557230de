"""Polars, which does the reading; an error names the extra where it is not installed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from countmorl.errors import DataError, MissingExtraError
from countmorl.extras import require

OLDEST = (1, 37, 1)
"""Before this, a table read in batches ended in silence at the first value that cannot be read."""


def check_version(version: str) -> None:
    """Refuse a Polars that would lose rows without a word."""
    found = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    if found < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise MissingExtraError(
            f"Reading tables needs polars {wanted} or later, got {version}: older ones lose rows "
            'in silence. Install it with: pip install -U "countmorl[logs]"'
        )


if TYPE_CHECKING:
    import polars as pl
    from polars import DataType
else:
    pl = require("polars")
    # Polars prints its types in a way that checkers of annotations at run time stumble over.
    DataType = object
    check_version(pl.__version__)


@contextmanager
def explained_panic() -> Iterator[None]:
    """Say in a sentence that Polars gave up on a damaged file; its panics are no `Exception`s."""
    try:
        yield
    except pl.exceptions.PanicException as error:
        raise DataError(
            "The table cannot be read: it is damaged in a way that Polars does not expect. Write "
            "it again, or give it as CSV."
        ) from error


__all__ = ["DataType", "check_version", "explained_panic", "pl"]
