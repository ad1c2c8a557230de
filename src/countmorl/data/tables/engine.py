"""Polars, which does the reading; an error names the extra where it is not installed."""

from typing import TYPE_CHECKING

from countmorl.extras import require

if TYPE_CHECKING:
    import polars as pl
else:
    pl = require("polars")

__all__ = ["pl"]
