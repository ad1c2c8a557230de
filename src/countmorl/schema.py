"""`Schema`: what the columns of a log mean, from the raw table to the policy that acts on a row.

It travels: the importer reads a table by it, the dataset keeps it, the run and the policy too.
Nothing here reads a table: that is `countmorl.data.tables`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from countmorl.configs import at_least, check_types, finite, from_json, to_json
from countmorl.errors import ConfigError, DataError

Kind = Literal["number", "boolean", "category", "scale", "elapsed", "hour", "weekday"]
Missing = Literal["refuse", "carry", "value", "median", "drop"]

MOST_NUMBERS = 1_000_000
"""Numbers that an observation may have: more are no log, but a file that wants to fill a memory."""
OTHER = "other"
"""What a category is called that the log did not know."""
NULLS = ("NA", "N/A", "n/a", "null", "NULL", "NaN", "nan")
"""Words that stand for a missing value in text, beside nothing at all."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table, and the numbers that it becomes."""

    name: str
    """The column's name in the table; with `expression`, the name of what is computed."""
    kind: Kind = "number"
    """number and boolean: one number. category: a number for each value (one-hot). scale: the
    place of the value among `values`. elapsed: hours since the episode began. hour, weekday: sine
    and cosine of the hour of the day, or of the day of the week."""
    values: tuple[str, ...] = ()
    """The categories in the order of their numbers, or the steps of a scale, the lowest first."""
    unknown: Literal["refuse", "other"] = "refuse"
    """What becomes of a category that is none of `values`."""
    missing: Missing = "refuse"
    """What becomes of a missing value: it is refused; the last one is carried forward; `fill` is
    put there; the log's median is, with a further number that says so; or the row is dropped, and
    the episode broken there."""
    fill: float | None = None
    """The number that stands for a missing value; of a category or a scale, a place in `values`.
    For an action: what is taken to have been done before the first one, where history asks for
    it."""
    unit: str = ""
    """The unit, in words."""
    date_format: str = ""
    """How the log writes dates that are text, such as %d.%m.%Y; nothing for 2024-12-31T14:30."""
    expression: str | None = None
    """How the column is computed from others: an expression in SQL, or the name of one."""

    def __post_init__(self) -> None:
        check_types(self)
        finite(self, "fill")
        if self.kind in ("category", "scale") and len(set(self.values)) != len(self.values):
            raise ConfigError(f"`values` of column '{self.name}' holds a value twice.")

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Names of the numbers that the column becomes."""
        name = self.name
        if self.kind == "category":
            others = (OTHER,) if self.unknown == "other" and OTHER not in self.values else ()
            own = tuple(f"{name}={value}" for value in (*self.values, *others))
        elif self.kind in ("hour", "weekday"):
            own = (f"{name}.{self.kind}.sin", f"{name}.{self.kind}.cos")
        else:
            own = (name,)
        return (*own, f"{name}.missing") if self.missing == "median" else own


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The columns of a log, how its rows make episodes, and what an observation is made of.

    An observation is what the columns of `obs` are now, then, with `history` k, for each lag from
    1 to k - 1 what they were, followed by the action of that time.
    """

    obs: tuple[Column, ...]
    action: tuple[Column, ...]
    """Numbers, or one category: then actions are discrete, and `values` are their names."""
    reward: str | None = None
    """A column, or an expression in SQL."""
    terminated: str | None = None
    """A column or an expression that is true where the task itself ended."""
    truncated: str | None = None
    """A column or an expression that is true where an episode was cut."""
    episode: str | None = None
    """The column that says to which episode a row belongs."""
    time: str | None = None
    """The column by which the rows of an episode are put in order."""
    gap: str | None = None
    """An episode ends where time jumps by more than this: 2h, 30m, 7d, or a number."""
    flag: str | None = None
    """A column or an expression that is true in the first row of every episode."""
    history: int = 1
    """Observations, the present one among them, that an observation is made of."""
    frame_skip: int = 1
    """Rows of the log that make one step: the action of the first, the sum of the rewards."""
    exogenous: tuple[str, ...] = ()
    """Columns of `obs` that no action can influence; they are imagined as they were logged."""
    null: tuple[str, ...] = ()
    """Words that stand for a missing value, beside the usual ones (`NULLS`)."""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, history=1, frame_skip=1)
        if not self.obs or not self.action:
            raise ConfigError("A schema needs at least one column of `obs` and one of `action`.")
        if self.sizes[0] > MOST_NUMBERS:
            raise ConfigError(
                f"With `history` {self.history:,} an observation has {self.sizes[0]:,} numbers, "
                f"more than {MOST_NUMBERS:,}. Choose a shorter one."
            )
        names = [column.name for column in self.obs]
        unknown = sorted(set(self.exogenous) - set(names))
        if unknown:
            raise ConfigError(f"`exogenous` names {', '.join(unknown)}, not a column of `obs`.")
        wrong = [c.name for c in self.action if c.kind not in ("number", "category")]
        if wrong:
            raise ConfigError(
                f"The action '{wrong[0]}' must be a number or a category, not of another kind."
            )
        if self.discrete and len(self.action) > 1:
            kinds = ", ".join(f"{column.name} ({column.kind})" for column in self.action)
            raise ConfigError(
                f"Actions are numbers, or one category, not both: {kinds}. Join categories into "
                "one column by an expression, or learn for one of them."
            )

    @property
    def discrete(self) -> bool:
        """Whether an action is one of a list."""
        return any(column.kind == "category" for column in self.action)

    @cached_property
    def now(self) -> tuple[str, ...]:
        """Names of the numbers that are seen at one time."""
        return tuple(name for column in self.obs for name in column.numbers)

    @cached_property
    def action_numbers(self) -> tuple[str, ...]:
        """Names of the numbers of an action's vector; one for each of the discrete actions."""
        return tuple(name for column in self.action for name in column.numbers)

    @cached_property
    def action_names(self) -> tuple[str, ...]:
        """Names of an action's numbers; the discrete actions' own names, as the log has them."""
        if not self.discrete:
            return self.action_numbers
        before = f"{self.action[0].name}="
        return tuple(name.removeprefix(before) for name in self.action_numbers)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of an observation and of an action."""
        # By arithmetic: a hostile file may ask for a history that no memory holds the names of.
        now, action = len(self.now), len(self.action_numbers)
        return now + (self.history - 1) * (now + action), action

    @cached_property
    def obs_names(self) -> tuple[str, ...]:
        """Names of the numbers of an observation, history and all."""
        before = tuple(
            f"{name}@-{lag}"
            for lag in range(1, self.history)
            for name in (*self.now, *self.action_numbers)
        )
        return self.now + before

    @cached_property
    def copied_from(self) -> tuple[int, ...]:
        """Where each number of the next observation stands in (observation, action); -1 if new."""
        now, action = len(self.now), len(self.action_numbers)
        block, total = now + action, len(self.obs_names)
        copied = [-1] * now
        for lag in range(1, self.history):
            start = now + (lag - 2) * block
            earlier = range(start, start + block)
            first = (*range(now), *range(total, total + action))
            copied += first if lag == 1 else earlier
        return tuple(copied)

    @cached_property
    def exogenous_numbers(self) -> tuple[int, ...]:
        """Places in an observation of the numbers that are imagined as they were logged."""
        own = {n for column in self.obs if column.name in self.exogenous for n in column.numbers}
        return tuple(i for i, name in enumerate(self.now) if name in own)


def obs_names(schema: Schema | None, size: int) -> tuple[str, ...]:
    """Names of an observation's numbers; their places where the log gave none."""
    return schema.obs_names if schema else tuple(f"obs[{i}]" for i in range(size))


def action_names(schema: Schema | None, size: int) -> tuple[str, ...]:
    """Names of an action's numbers, or of discrete actions; their places where there are none."""
    return schema.action_names if schema else tuple(f"action[{i}]" for i in range(size))


def schema_text(schema: Schema) -> str:
    """The schema as JSON."""
    return json.dumps(to_json(schema), sort_keys=True)


def schema_bytes(schema: Schema) -> np.ndarray:
    """The schema as files of arrays hold it: JSON, byte by byte."""
    return np.frombuffer(schema_text(schema).encode(), np.uint8)


def schema_of(stored: np.ndarray) -> Schema:
    """The schema that a file of arrays holds."""
    try:
        values = json.loads(np.asarray(stored, np.uint8).tobytes().decode())
        return from_json(Schema, values)
    except (ValueError, TypeError, RecursionError, ConfigError) as error:
        raise DataError(f"The log's schema cannot be read: {error}") from error


def schema_for(stored: np.ndarray | None, obs: int, action: int) -> Schema | None:
    """The schema that is stored beside arrays of so many columns, where there is one."""
    if stored is None:
        return None
    if stored.dtype.kind not in "iu":
        raise DataError("The log's schema cannot be read: wanted JSON, byte by byte.")
    schema = schema_of(stored)
    if schema.sizes != (obs, action):
        raise DataError(
            f"The schema names {schema.sizes[0]} observation and {schema.sizes[1]} action numbers, "
            f"but the arrays hold {obs} and {action}. They belong to different logs."
        )
    return schema
