"""Actions against their bounds, given or taken from the data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from countmorl.data.actions import stretched
from countmorl.data.checks.common import named, of_rows
from countmorl.data.fields import Fields, not_finite
from countmorl.data.findings import Finding
from countmorl.spaces import ActionSpace


def bounds(fields: Fields) -> Iterator[Finding]:
    """Actions outside of their bounds, and columns that mostly lie on them."""
    low, high = fields.action_low, fields.action_high
    if fields.discrete:
        return
    if (low is None or high is None) and fields.task and fields.task.reference:
        low = np.full(fields.action.shape[1], -1, np.float32)  # Every D4RL task is bounded so.
        high = -low
    if low is None or high is None:
        return
    space = ActionSpace(low=low, high=high)
    slack, rows = space.slack, np.flatnonzero(space.outside(fields.action))
    if len(rows):
        text = f"actions outside their bounds {low.tolist()} to {high.tolist()}"
        yield of_rows("error", "action-bounds", rows, text)
    at_edge = (np.abs(fields.action - low) <= slack) | (np.abs(fields.action - high) <= slack)
    columns = np.flatnonzero(at_edge.mean(axis=0) > 0.5).tolist()
    if columns:
        text = (
            f"action {named(fields, 'action', columns)} sit at a bound in more than half of the "
            "rows; was the controller saturated, or are the bounds too tight?"
        )
        yield Finding("warning", "saturated", text, count=len(columns))


def outliers(fields: Fields) -> Iterator[Finding]:
    """A few rows that would set the bounds for all others."""
    if fields.discrete or fields.bounded or len(not_finite(fields.action)) or fields.within_one:
        return
    rows, columns = stretched(fields.action)
    if len(rows):
        text = (
            f"action {named(fields, 'action', columns.tolist())} lie far beyond all other actions "
            "and would set the bounds: give `action_low` and `action_high`, or repair the rows"
        )
        yield of_rows("error", "action-outlier", rows, text)
