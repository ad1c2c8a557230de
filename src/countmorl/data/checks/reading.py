"""What reading a log has shown: what is not used, doubtful, lost in 32 bits, or no number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from countmorl.data.checks.common import named, of_columns, of_rows
from countmorl.data.fields import Fields, not_finite
from countmorl.data.findings import Finding
from countmorl.data.propensity import impossible

ABSURD = 1e6
MANY = 20


def unused(fields: Fields) -> Iterator[Finding]:
    """Arrays of other names, and groups, that nothing here uses."""
    if fields.unused:
        listed = ", ".join(fields.unused[:MANY]) + (", ..." if len(fields.unused) > MANY else "")
        text = f"in the source and not used: {listed}. Rename what belongs to the log."
        yield Finding("warning", "unused", text, count=len(fields.unused))


def doubtful_actions(fields: Fields) -> Iterator[Finding]:
    """Actions whose type and values do not tell what they are."""
    if fields.action_doubt:
        text = f"actions: {fields.action_note}; {fields.action_doubt}"
        yield Finding("warning", "action-kind", text)


def lost(fields: Fields) -> Iterator[Finding]:
    """Numbers of 64 bits that 32 bits cannot hold."""
    for loss in fields.lost:
        columns = list(loss.columns)
        if loss.kind == "too-large":
            text = (
                f"`{loss.key}` holds finite numbers too large for single precision, beyond 3.4e38, "
                f"in {named(fields, loss.key, columns)}; a code for what is missing, or a unit?"
            )
            yield of_rows("error", "too-large", loss.rows, text)
        else:
            text = (
                "vary too little for their size: single precision loses it. Subtract a start, "
                "use differences, or drop an identifier"
            )
            yield of_columns("error", "precision", fields, loss.key, columns, text)


def infinite(fields: Fields) -> Iterator[Finding]:
    """NaN and infinities, but for those that only the cast has made."""
    for key in ("obs", "action", "reward", "next_obs"):
        rows = not_finite(getattr(fields, key))
        for loss in fields.lost:
            if loss.key == key and loss.kind == "too-large":
                rows = np.setdiff1d(rows, loss.rows, assume_unique=True)
        if len(rows):
            yield of_rows("error", "not-finite", rows, f"`{key}` is NaN or infinite")


def propensities(fields: Fields) -> Iterator[Finding]:
    """Chances of logged actions that are no chances of what has happened."""
    if fields.propensity is None:
        return
    rows = impossible(fields.propensity)
    if len(rows):
        text = "`propensity` must be above 0 and at most 1: how likely the logged action was"
        yield of_rows("error", "propensity", rows, text)


def scales(fields: Fields) -> Iterator[Finding]:
    """Numbers of absurd size."""
    for key in ("obs", "action", "reward"):
        values = getattr(fields, key).reshape(len(fields.obs), -1)
        largest = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0))
        if not (largest > ABSURD).any():
            continue
        finite = np.where(np.isfinite(values), np.abs(values), 0)
        rows = np.flatnonzero((finite > ABSURD).any(axis=1))
        if len(rows):
            text = f"`{key}` beyond {ABSURD:g}; a sensor's error code, or a unit to rescale?"
            yield of_rows("warning", "scale", rows, text)
