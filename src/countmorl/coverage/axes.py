"""Columns of pairs, cut into ranges that can be said aloud in the columns' own words and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.schema import Column

CUTS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
"""Quantiles at which a column of numbers is cut."""
FEW = 8
"""A column of no more distinct numbers than this is not cut: each of them is a place."""
DIGITS = 100
"""Parts of a column's usual range that a cut is rounded to: what is said is what was counted."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One column and its places: ranges between cuts, or single values."""

    name: str
    cuts: tuple[float, ...] = ()
    """A number x lies in place i where cuts[i - 1] < x <= cuts[i]."""
    values: tuple[float, ...] = ()
    """The values that are the places, where there are no cuts."""
    labels: tuple[str, ...] = ()
    """What the values are called."""
    unit: str = ""
    ordered: bool = True
    """Whether neighbouring places may be joined to a range."""
    source: str = ""
    """The column of the log that it comes from: several may come from one."""

    @property
    def size(self) -> int:
        """Places there are."""
        return len(self.values) or len(self.cuts) + 1

    def places(self, x: np.ndarray) -> np.ndarray:
        """The place of each number; of single values, the nearest one's."""
        if not self.values:
            return np.searchsorted(self.cuts, x, side="left")
        known = np.array(self.values)
        return np.searchsorted((known[1:] + known[:-1]) / 2, x)

    @cached_property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """First and last place of every range; the last range is the whole column."""
        whole = (0, self.size - 1)
        spans = (
            [(a, b) for a in range(self.size) for b in range(a, self.size)]
            if self.ordered
            else [(a, a) for a in range(self.size)]
        )
        return (*(span for span in spans if span != whole), whole)

    @cached_property
    def members(self) -> np.ndarray:
        """Which places each range holds, [ranges, places]."""
        place = np.arange(self.size)
        return np.array([(a <= place) & (place <= b) for a, b in self.ranges], np.float64)

    def said(self, number: int) -> str:
        """A range in words; nothing for the whole column."""
        first, last = self.ranges[number]
        if (first, last) == (0, self.size - 1):
            return ""
        unit = f" {self.unit}" if self.unit else ""
        if self.values:
            named = [self._label(place) for place in (first, last)]
            if first == last:
                return f"{self.name} is {named[0]}"
            return f"{self.name} from {named[0]} to {named[1]}{unit}"
        if first == 0:
            return f"{self.name} up to {self.cuts[last]:g}{unit}"
        if last == self.size - 1:
            return f"{self.name} above {self.cuts[first - 1]:g}{unit}"
        return f"{self.name} from {self.cuts[first - 1]:g} to {self.cuts[last]:g}{unit}"

    def told(self, x: float) -> float | str:
        """One value as it is told: rounded, or by its label."""
        if self.labels:
            return self.labels[int(self.places(np.array([x]))[0])]
        return float(f"{x:.4g}")

    def holds(self, number: int, x: np.ndarray) -> np.ndarray:
        """Which numbers lie in a range."""
        first, last = self.ranges[number]
        place = self.places(x)
        return (first <= place) & (place <= last)

    def _label(self, place: int) -> str:
        return self.labels[place] if self.labels else f"{self.values[place]:g}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """Pairs as columns of numbers, [rows] each, and the axis of each column."""

    axes: tuple[Axis, ...]
    observed: int
    """Columns that are of the observation; the others are of the action."""
    now: int
    """Numbers of an observation that are of the present; what lies behind them is its past."""
    discrete: bool

    @classmethod
    def of(cls, dataset: Dataset) -> Table:
        """Cut the columns of a log: the observation's present, and the action's."""
        schema, now = dataset.schema, dataset.obs_dim
        if schema is not None:
            now = len(schema.now)
        known = _columns(schema.obs if schema else ())
        observed = [
            replace(
                _axis(name, dataset.obs[:, at], known.get(name)),
                source=known[name].name if name in known else name,
            )
            for at, name in enumerate(dataset.obs_names[:now])
        ]
        return cls(
            axes=(*observed, *_action_axes(dataset)),
            observed=now,
            now=now,
            discrete=dataset.discrete,
        )

    def numbers(self, obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        """Pairs as one table, [rows, columns]; discrete actions, one-hot, by their number."""
        done = action.argmax(axis=1)[:, None] if self.discrete else action
        return np.concatenate([obs[:, : self.now], done], axis=1)

    def places(self, numbers: np.ndarray) -> np.ndarray:
        """The place of each number, [rows, columns]."""
        found = [axis.places(column) for axis, column in zip(self.axes, numbers.T, strict=True)]
        return np.stack(found, axis=1)

    def pairs(self, *, actions: bool) -> list[tuple[int, int]]:
        """Pairs of columns: of observation and action, or of the observation alone.

        What comes of one column hangs together by itself: the values of a category exclude each
        other, the sine and the cosine of an hour lie on a circle. That is no news of a log.
        """
        seen, every = range(self.observed), range(len(self.axes))
        if actions:
            return [(i, j) for i in seen for j in every[self.observed :]]
        own = [axis.source or axis.name for axis in self.axes]
        return [(i, j) for i in seen for j in seen if i < j and own[i] != own[j]]


def _columns(columns: Sequence[Column]) -> dict[str, Column]:
    return {number: column for column in columns for number in column.numbers}


def _action_axes(dataset: Dataset) -> list[Axis]:
    if dataset.discrete:
        names = dataset.action_names
        name = dataset.schema.action[0].name if dataset.schema else "action"
        labels = names if dataset.schema else tuple(map(str, range(len(names))))
        values = tuple(map(float, range(len(names))))
        return [Axis(name=name, values=values, labels=labels, ordered=False)]
    known = _columns(dataset.schema.action if dataset.schema else ())
    return [
        _axis(name, dataset.action[:, at], known.get(name))
        for at, name in enumerate(dataset.action_names)
    ]


def _axis(name: str, numbers: np.ndarray, column: Column | None) -> Axis:
    unit = column.unit if column else ""
    values = np.unique(numbers)
    if column is not None and column.kind == "category" and "=" in name:
        own, _, value = name.partition("=")
        return Axis(name=own, values=(0.0, 1.0), labels=(f"not {value}", value), ordered=False)
    if column is not None and column.kind == "boolean" and name == column.name:
        return Axis(name=name, values=(0.0, 1.0), labels=("false", "true"), ordered=False)
    if column is not None and column.kind == "scale" and name == column.name:
        steps = tuple(map(float, range(len(column.values))))
        return Axis(name=name, values=steps, labels=column.values, unit=unit)
    if len(values) <= FEW:
        return Axis(name=name, values=tuple(map(float, values)), unit=unit)
    return Axis(name=name, cuts=_cuts(numbers), unit=unit)


def _cuts(numbers: np.ndarray) -> tuple[float, ...]:
    """Quantiles, rounded as they are said."""
    cuts = np.quantile(numbers.astype(np.float64), CUTS)
    usual = cuts[-1] - cuts[0] or float(np.ptp(numbers))
    step = 10.0 ** np.floor(np.log10(usual / DIGITS))
    # By way of text: 0.1 + 0.2 is not what is said.
    rounded = {float(f"{round(cut / step) * step:.12g}") for cut in cuts}
    inside = sorted(cut for cut in rounded if numbers.min() <= cut < numbers.max())
    return tuple(inside) or (float(np.median(numbers)),)
