"""Polars, which does the reading; an error names the extra where it is not installed."""

import re
from typing import TYPE_CHECKING

from countmorl.errors import MissingExtraError
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

__all__ = ["DataType", "check_version", "pl"]
