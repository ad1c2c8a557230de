"""Missing values: counted, refused, filled or dropped, as was said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from countmorl.data.propensity import refuse_impossible
from countmorl.data.tables.columns import Source
from countmorl.data.tables.episodes import Order
from countmorl.data.tables.survey import UNKNOWN, Survey
from countmorl.errors import DataError
from countmorl.schema import Column

SHOWN = 12


def refuse_missing(found: Survey, reward: np.ndarray, flags: dict) -> None:
    """Refuse columns with missing values of which nothing was said, all in one sentence."""
    counts = list(_counted(found, reward, flags))
    if not counts:
        return
    listed = "; ".join(
        f"'{name}' in {count:,} of {found.rows:,} rows, first in {found.where(row)}"
        for name, count, row in counts[:SHOWN]
    )
    more = f"; and {len(counts) - SHOWN} more columns" if len(counts) > SHOWN else ""
    name = counts[0][0]
    source = next(source for source in _all(found) if source.column.name == name)
    why = " Lag and lead have no value at an episode's edge." if source.is_shifted else ""
    raise DataError(
        f"Values are missing: {listed}{more}.{why} Say what becomes of them: --missing "
        f"{_ways(found, source)}."
    )


def _ways(found: Survey, source: Source) -> str:
    """What may be said of a column's missing values."""
    name, kind = source.column.name, source.column.kind
    if source in found.layout.flags.values():
        return f"{name}=false"
    ways = [f"{name}=carry (the last one before)", f"{name}=drop (the row)"]
    if kind in ("number", "scale") and source in found.layout.obs:
        ways.insert(1, f"{name}=median")
    value = "0" if kind in ("number", "boolean") else "WORD" if source.is_coded else None
    return ", ".join([*ways, f"{name}={value} (a value)"] if value else ways)


def refuse_infinite(found: Survey, reward: np.ndarray) -> None:
    """Refuse rewards that are infinite, or would be in 32 bits."""
    with np.errstate(over="ignore"):
        infinite = np.isinf(reward.astype(np.float32))
    if infinite.any():
        row = int(infinite.argmax())
        raise DataError(
            f"The reward is {reward[row]:g} in {found.where(row)} ({infinite.sum():,} rows are "
            "infinite or too large). Is something divided by zero there?"
        )


def refuse_improbable(found: Survey, chance: np.ndarray | None) -> None:
    """Refuse what is no chance of an action that was taken, a missing one among them."""
    source = found.layout.propensity
    if chance is None or source is None:
        return
    missing = np.isnan(chance)
    if missing.any():
        raise DataError(
            f"The propensity '{source.column.name}' is missing in {missing.sum():,} of "
            f"{found.rows:,} rows, first in {found.where(int(missing.argmax()))}. Nobody knows "
            "afterwards how likely an action was: leave such rows out of the table, or the column."
        )
    refuse_impossible(chance, f"The propensity '{source.column.name}'", found.where)


def _all(found: Survey) -> tuple:
    return (*found.layout.columns, *found.layout.others.values())


def _counted(found: Survey, reward: np.ndarray, flags: dict) -> Iterator[tuple[str, int, int]]:
    for source, tally in zip(found.layout.columns, found.tallies, strict=True):
        if tally.missing and source.column.missing == "refuse":
            yield source.column.name, tally.missing, tally.first_missing or 0
    unknown = {"reward": np.isnan(reward)} | {f: v == UNKNOWN for f, v in flags.items()}
    sources = {"reward": found.layout.reward} | dict(found.layout.flags)
    for role, missing in unknown.items():
        if sources[role].column.missing == "refuse" and missing.any():
            yield sources[role].column.name, int(missing.sum()), int(missing.argmax())


def dropped_rows(found: Survey, reward: np.ndarray) -> np.ndarray | None:
    """Rows that are dropped because a value is missing; None where there are none."""
    gone = np.zeros(found.rows, bool)
    for place, source in enumerate(found.layout.columns):
        if source.column.missing == "drop" and found.tallies[place].missing:
            gone |= np.isnan(found.narrow.column(place))
    if found.layout.reward.column.missing == "drop":
        gone |= np.isnan(reward)
    return gone if gone.any() else None


def fill_reward(found: Survey, reward: np.ndarray, order: Order) -> np.ndarray:
    """Rewards in the order of rows, without missing ones."""
    ordered = reward if order.rows is None else reward[order.rows]
    column, missing = found.layout.reward.column, np.isnan(ordered)
    if not missing.any() or column.missing == "drop":
        return ordered
    if column.missing == "carry":
        filled, _ = carried(ordered, order.starts, np.nan)
        refuse_start(found, np.isnan(filled), order.rows, column.name)
        return filled
    return np.where(missing, filler(column), ordered)


def filler(column: Column) -> float:
    """The number that stands for a missing value, which is known by now."""
    assert column.fill is not None
    return column.fill


def carried(values: np.ndarray, starts: np.ndarray, before: float) -> tuple[np.ndarray, float]:
    """The last known value put where one is missing, never across the start of an episode.

    `before` is the last value before these; the last one of these is given back with them.
    """
    known = ~np.isnan(values) | starts
    at = np.maximum.accumulate(np.where(known, np.arange(len(values)), -1))
    filled = np.where(at >= 0, values[np.maximum(at, 0)], before)
    return filled.astype(values.dtype), float(filled[-1])


def refuse_start(
    found: Survey, missing: np.ndarray, rows: np.ndarray | None, name: str, offset: int = 0
) -> None:
    """Refuse values that are missing before anything could be carried forward."""
    if missing.any():
        at = offset + int(missing.argmax())
        row = at if rows is None else int(rows[at])
        raise DataError(
            f"'{name}' is missing from the start of an episode on, so there is no value to carry "
            f"forward: {found.where(row)}. Nothing is carried from one episode to the next; use "
            f"--missing {name}=median, a value, or drop."
        )
