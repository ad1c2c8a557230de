"""What each column of a table becomes: names and wild-cards resolved, kinds decided."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import filter as matching
from functools import cached_property
from glob import has_magic

from countmorl.data.tables.engine import pl
from countmorl.data.tables.expressions import Formula, read_formula, unknown_name
from countmorl.data.tables.frame import Frame
from countmorl.data.tables.request import RULES, Request, Setting
from countmorl.data.tables.values import Holds, hour_of
from countmorl.data.tables.words import label
from countmorl.errors import ConfigError, DataError, did_you_mean
from countmorl.schema import Column, Kind

NAMED = re.compile(r'\s*("(?:[^"])+"|[^=<>!()]+?)\s*=(?!=)\s*(.+)', re.DOTALL)
ROLES = ("reward", "propensity", "terminated", "truncated", "episode", "time", "flag")
KINDS: dict[Holds, Kind] = {
    "number": "number",
    "boolean": "boolean",
    "text": "category",
    "time": "elapsed",
}
"""What a column of the observation becomes where nothing is said of it."""
READABLE: dict[Kind, tuple[Holds, ...]] = {
    "number": ("number", "boolean"),
    "boolean": ("boolean", "number", "text"),
    "category": ("text", "number", "boolean", "time"),
    "scale": ("text", "number", "boolean"),
    "elapsed": ("time", "number"),
    "hour": ("time",),
    "weekday": ("time",),
}
"""What a column must hold to become something."""
FIXED = ("category", "elapsed", "hour", "weekday")
"""Kinds that have no median."""


@dataclass(frozen=True)
class Item:
    """One column that was asked for, under its name."""

    name: str
    expression: str | None = None


@dataclass(frozen=True, eq=False)
class Source:
    """A column, and how its raw values are computed from the table."""

    column: Column
    expr: pl.Expr | None
    """None where it needs the rows before or after: then `formula` says it."""
    holds: Holds
    formula: Formula | None = None
    filler: str | None = None
    """The word that stands for a missing one, where the log itself tells which words there are."""

    @cached_property
    def is_coded(self) -> bool:
        """Whether its values are words, which are kept by number."""
        return self.column.kind in ("category", "scale")

    @property
    def is_shifted(self) -> bool:
        """Whether it looks at the rows around."""
        return self.formula is not None and bool(self.formula.shifts)

    @property
    def is_wide(self) -> bool:
        """Whether single precision would lose too much of its raw values."""
        return self.column.kind == "elapsed"


def check_shifted(source: Source, frame: Frame) -> None:
    """Refuse what cannot be computed from the rows around."""
    if source.formula is None or not source.is_shifted:
        return
    words = [name for name in source.formula.columns if frame.meaning(name).holds == "text"]
    if words or source.column.kind not in ("number", "boolean"):
        name = words[0] if words else source.column.name
        raise ConfigError(
            f"'{source.formula.text}': lag and lead are for numbers, but '{name}' holds words or "
            "dates. What was seen and done before is seen with --history 2."
        )


def resolve(items: Iterable[str], names: Sequence[str], request: Request, what: str) -> list[Item]:
    """Columns by their names, wild-cards and expressions, each once."""
    taken = set() if what == "action" else _taken(request, names)
    found: dict[str, Item] = {}
    for item in items:
        for each in _resolved(item, names, request, what):
            if not (has_magic(item) and item not in names and each.name in taken):
                found.setdefault(each.name, each)
    if not found:
        raise ConfigError(
            f"No column of `{what}` is named. Give names or wild-cards, such as 'lab_*'."
        )
    return list(found.values())


def _resolved(item: str, names: Sequence[str], request: Request, what: str) -> list[Item]:
    said = request.columns[item].expression if item in request.columns else None
    if said and item not in names:
        return [Item(item, said)]
    if item in names:
        return [Item(item)]
    if named := NAMED.fullmatch(item):
        return [Item(named[1].strip().strip('"'), named[2].strip())]
    if has_magic(item):
        found = matching(names, item)
        if found:
            return [Item(name) for name in found]
        raise unknown_name(item, names, f"`{what}`")
    error = unknown_name(item, names, f"`{what}`")
    raise ConfigError(f"{error} A computed column is written NAME = EXPRESSION.")


def _taken(request: Request, names: Sequence[str]) -> set[str]:
    """Columns that a wild-card of the observation does not mean: they have a part already."""
    roles = {getattr(request, role) for role in ROLES}
    actions = {name for item in request.action for name in (item, *matching(names, item))}
    return {name for name in roles | actions if name is not None}


def source_of(item: Item, frame: Frame, request: Request, *, is_action: bool) -> Source:
    """Decide what a column becomes, and how it is computed."""
    setting, raw = request.setting(item.name), _raw_name(item, frame)
    formula, written = None, ""
    if raw is None:
        formula = read_formula(item.expression or "", frame.names, f"'{item.name}'")
        holds = frame.holds_of(formula)
    else:
        holds, written = frame.meaning(raw).holds, frame.meaning(raw).date_format
    kind = setting.kind or _kind(item.name, holds, request, is_action)
    if holds == "nothing":
        raise DataError(
            f"Column '{item.name}' of {frame.table.name} is empty in every row. Leave it out."
        )
    if holds not in READABLE[kind]:
        raise frame.cannot_be(item.name, kind, holds)
    column, filler = _column(item, setting, kind, is_action)
    column = replace(column, date_format=written)
    expr = None
    if formula is None or not formula.shifts:
        base = formula.expr if formula else pl.col(raw or item.name)
        expr = _computed(base, raw, kind, holds, frame)
    return Source(column, expr, holds, formula, filler)


def _raw_name(item: Item, frame: Frame) -> str | None:
    """The column of the table that is meant, under whatever name; None where it is computed."""
    if item.expression is None:
        return item.name
    plain = item.expression.strip()
    return next((n for n in (plain, plain.strip('"')) if n in frame.names), None)


def _kind(name: str, holds: Holds, request: Request, is_action: bool) -> Kind:
    if not is_action:
        return KINDS.get(holds, "number")
    if request.actions == "continuous":
        return "number"
    return "category" if request.actions == "discrete" or holds in ("text", "boolean") else "number"


def _computed(base: pl.Expr, raw: str | None, kind: Kind, holds: Holds, frame: Frame) -> pl.Expr:
    if kind in ("hour", "weekday"):
        clock = base if raw is None else frame.wall(raw)
        return hour_of(clock) if kind == "hour" else clock.dt.weekday().cast(pl.Float64) - 1
    if kind == "elapsed" and holds == "time":
        return base.dt.timestamp("us") / 3.6e9
    if kind == "boolean" and holds != "boolean":
        return base.cast(pl.Float64) if raw is None else frame.flag(raw)
    return base.cast(pl.String) if kind in ("category", "scale") and holds == "time" else base


def _column(item: Item, setting: Setting, kind: Kind, is_action: bool) -> tuple[Column, str | None]:
    """The column, and the word that stands for a missing one where words are not known yet."""
    if kind == "scale" and not setting.values:
        raise ConfigError(
            f"The scale '{item.name}' needs its steps in order: --scale {item.name}=low,middle,high"
        )
    column = Column(
        name=item.name,
        kind=kind,
        values=setting.values or (),
        unknown=setting.unknown or "refuse",
        unit=setting.unit or "",
        expression=item.expression,
        fill=setting.fill,
    )
    rule = setting.missing
    if kind == "category" and not setting.values and rule is not None and rule not in RULES:
        return replace(column, missing="value"), label(rule)
    return with_rule(column, rule, is_action=is_action), None


def with_rule(column: Column, rule: str | bool | float | None, *, is_action: bool) -> Column:
    """A column with what is to become of its missing values."""
    if rule is None:
        return column
    if rule in RULES:
        if rule == "median" and (column.kind in (*FIXED, "boolean") or is_action):
            what = "An action" if is_action else f"A column of kind {column.kind}"
            raise ConfigError(f"{what} such as '{column.name}' has no median; carry, or drop.")
        return replace(column, missing=rule)  # type: ignore[arg-type]
    if column.kind in ("category", "scale"):
        word = label(rule)
        if word not in column.values:
            hint = did_you_mean(word, column.values)
            raise ConfigError(f"'{word}' is none of the values of '{column.name}'.{hint}")
        return replace(column, missing="value", fill=float(column.values.index(word)))
    return replace(column, missing="value", fill=as_value(rule, column.name))


def as_value(rule: str | bool | float, name: str) -> float:
    """The number that is said to stand for a missing value."""
    words = {"true": 1.0, "false": 0.0}
    word = str(rule).lower()
    try:
        return words[word] if word in words else float(rule)
    except ValueError:
        raise ConfigError(
            f"`missing` of '{name}' must be {', '.join(RULES)} or a value, got '{rule}'."
        ) from None


def resolve_exogenous(items: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Columns of the observation that no action can influence."""
    found: dict[str, None] = {}
    for item in items:
        hits = [item] if item in names else matching(names, item)
        if not hits:
            raise unknown_name(item, names, "`exogenous`")
        found |= dict.fromkeys(hits)
    return tuple(found)
