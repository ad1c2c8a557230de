"""Logs as they lie in companies: tables with named columns, read by Polars and made a dataset.

The way of a table: `scan` finds and opens files, `values` tells what raw columns hold, `columns`
what each becomes, `survey` reads everything once, `episodes` puts rows in order, `encode` makes
numbers of them, `importing` does it all.
"""
