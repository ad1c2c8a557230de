"""A table on its way to a dataset, stopped where a test looks at it."""

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
import pytest

from countmorl.data.tables.episodes import Order, Rows, put_in_order
from countmorl.data.tables.layout import lay_out
from countmorl.data.tables.request import Request, request_of
from countmorl.data.tables.scan import open_table
from countmorl.data.tables.survey import Survey, survey

Read = tuple[Survey, Order, np.ndarray, dict, Request]


@pytest.fixture
def read(tmp_path) -> Iterator[Callable[..., Read]]:
    """Read columns: `id` makes episodes where it is there, `x` is seen, `a` is done."""
    opened = []

    def run(log: dict, /, **how) -> Read:
        frame = pl.DataFrame(log)
        asked = {"obs": ["x"], "action": ["a"], "reward": "r"}
        asked |= {"episode": "id"} if "id" in log else {}
        request = request_of(asked | how)
        found = survey(lay_out(open_table(frame, request), request), tmp_path)
        opened.append(found)
        ids = np.concatenate(found.ids) if found.ids else None
        order = put_in_order(ids, None, None, None, found.rows, Rows(found.where))
        flags = {flag: np.concatenate(values) for flag, values in found.flags.items()}
        return found, order, np.concatenate(found.rewards), flags, request

    yield run
    for found in opened:
        found.close()
