"""Polars, which does the reading; an error names the extra where it is not installed."""

from typing import TYPE_CHECKING

from countmorl.extras import require

if TYPE_CHECKING:
    import polars as pl
    from polars import DataType
else:
    pl = require("polars")
    # Polars prints its types in a way that checkers of annotations at run time stumble over.
    DataType = object

__all__ = ["DataType", "pl"]
