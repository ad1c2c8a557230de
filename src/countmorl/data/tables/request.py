"""`Request`: what a person asks of a table, before it is known what the table holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from countmorl.configs import at_least, check_types, from_json
from countmorl.errors import ConfigError
from countmorl.schema import Column, Kind, Schema

RULES = ("refuse", "carry", "median", "drop")
"""What may become of a missing value; anything else that is said is the value to put there."""
MOST_CATEGORIES = 50


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is said of a column, or of all that a wild-card names; None where nothing is."""

    kind: Kind | None = None
    values: tuple[str, ...] | None = None
    unknown: Literal["refuse", "other"] | None = None
    missing: str | bool | float | None = None
    """One of `RULES`, or the value that stands for a missing one."""
    fill: float | None = None
    unit: str | None = None
    date_format: str | None = None
    expression: str | None = None

    def __post_init__(self) -> None:
        check_types(self)

    def under(self, other: Setting) -> Setting:
        """The two together; where both say something, the other one counts."""
        said = {f.name: getattr(other, f.name) for f in fields(other)}
        return replace(self, **{name: value for name, value in said.items() if value is not None})


@dataclass(frozen=True, kw_only=True)
class Request:
    """Columns by name, wild-card or expression, and how the table is to be read."""

    obs: tuple[str, ...] = ()
    action: tuple[str, ...] = ()
    reward: str | None = None
    propensity: str | None = None
    terminated: str | None = None
    truncated: str | None = None
    episode: str | None = None
    time: str | None = None
    gap: str | float | None = None
    flag: str | None = None
    history: int = 1
    frame_skip: int = 1
    exogenous: tuple[str, ...] = ()
    columns: dict[str, Setting] = field(default_factory=dict)
    """What is said of single columns, by name or wild-card."""
    missing: tuple[str, ...] = ()
    """Rules for missing values: carry for all, or lab_1=carry, 'lab_*=median', reward=0."""
    categories: tuple[str, ...] = ()
    scale: tuple[str, ...] = ()
    """Ordered categories, the lowest first: pain=none,mild,severe."""
    actions: Literal["discrete", "continuous"] | None = None
    action_low: tuple[float, ...] = ()
    action_high: tuple[float, ...] = ()
    null: tuple[str, ...] = ()
    """Words of a text file that stand for a missing value, beside the usual ones."""
    decimal_comma: bool = False
    separator: str | None = None
    date_format: str | None = None
    most_categories: int = MOST_CATEGORIES

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, history=1, frame_skip=1, most_categories=1)
        if self.separator is not None and len(self.separator.encode()) != 1:
            raise ConfigError(
                f"`separator` must be one plain character, such as ; or |, got '{self.separator}'."
            )

    @classmethod
    def of(cls, schema: Schema) -> Request:
        """Ask for what a schema says, so that another log becomes the same numbers."""
        columns = (*schema.obs, *schema.action)
        # A date under a second name is read as the column that it is taken from.
        dates = {c.expression: c.date_format for c in columns if c.expression and c.date_format}
        said = {name: Setting(date_format=written) for name, written in dates.items()}
        said |= {c.name: _setting(c) for c in columns}
        return cls(
            obs=tuple(column.name for column in schema.obs),
            action=tuple(column.name for column in schema.action),
            columns=said,
            actions="discrete" if schema.discrete else "continuous",
            **{name: getattr(schema, name) for name in SHARED},
        )

    def over(self, base: Request, said: Iterable[str]) -> Request:
        """This request, with all but what is said here taken from another one."""
        own = {name: getattr(self, name) for name in said}
        own["columns"] = {**base.columns, **self.columns}
        own["missing"] = (*base.missing, *self.missing)
        return replace(base, **own)

    def setting(self, name: str) -> Setting:
        """All that is said of one column; what names it exactly counts more than a wild-card."""
        matching = [key for key in self.columns if matches(key, name)]
        found = Setting()
        for key in sorted(matching, key=lambda key: key == name):
            found = found.under(self.columns[key])
        if any(matches(each, name) for each in self.categories):
            found = replace(found, kind="category")
        for each in self.scale:
            target, values = pair(each, "scale", "pain=none,mild,severe")
            if matches(target, name):
                steps = tuple(value.strip() for value in values.split(","))
                found = replace(found, kind="scale", values=steps)
        rule = self.rule(name)
        return found if rule is None else replace(found, missing=rule)

    def rule(self, *names: str, bare: bool = True) -> str | None:
        """The last rule for missing values that names one of these; a bare one names all."""
        found = None
        for each in self.missing:
            if "=" not in each:
                found = each if bare else found
                continue
            target, said = pair(each, "missing", "lab_1=carry")
            if any(matches(target, name) for name in names):
                found = said
        return found


SHARED = (
    *("reward", "terminated", "truncated", "episode", "time", "gap", "flag"),
    *("history", "frame_skip", "exogenous", "null"),
)
"""What a request and a schema call by the same name."""


SEVERAL = (
    *("obs", "action", "exogenous", "missing", "categories", "scale", "null"),
    *("action_low", "action_high"),
)
"""What there may be several of."""


def request_of(given: Mapping[str, Any]) -> Request:
    """A request from plain values, as a file holds them; unknown names are errors."""
    whole = {f.name: _default(f) for f in fields(Request)} | dict(given)
    settings = settings_of(whole["columns"])
    for key in SEVERAL:  # One is as good as a list of one.
        if isinstance(whole.get(key), (str, int, float)):
            whole[key] = [whole[key]]
    return replace(from_json(Request, whole | {"columns": {}}), columns=settings)


def settings_of(columns: Any) -> dict[str, Setting]:
    """What is said of single columns, from plain values."""
    if not isinstance(columns, Mapping):
        raise ConfigError(f"`columns` must be a table of tables, got {columns!r}.")
    unset = {f.name: None for f in fields(Setting)}
    settings: dict[str, Setting] = {}
    for name, said in columns.items():
        if not isinstance(said, (Mapping, Setting)):
            raise ConfigError(f"`columns.{name}` must be a table, got {said!r}.")
        try:
            plain = from_json(Setting, unset | dict(said)) if isinstance(said, Mapping) else said
        except ConfigError as error:
            raise ConfigError(f"Column '{name}': {error}") from None
        settings[name] = plain
    return settings


def matches(pattern: str, name: str) -> bool:
    """Whether a name or wild-card names a column."""
    return pattern == name or fnmatchcase(name, pattern)


def pair(text: str, option: str, example: str) -> tuple[str, str]:
    """Split NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise ConfigError(f"`{option}` wants NAME=VALUE, such as {example}; got '{text}'.")
    return name.strip(), value.strip()


def _default(field: Any) -> Any:
    return field.default if field.default is not MISSING else field.default_factory()


def _setting(column: Column) -> Setting:
    missing: str | float | None = column.missing
    if column.missing == "value":
        missing = column.fill
        if column.fill is not None and column.values:
            missing = column.values[int(column.fill)]
    return Setting(
        kind=column.kind,
        values=column.values or None,
        unknown=column.unknown,
        missing=missing,
        fill=column.fill,
        unit=column.unit or None,
        date_format=column.date_format or None,
        expression=column.expression,
    )
