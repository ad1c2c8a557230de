"""`Layout`: everything that is read of a table, each column with its part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from countmorl.data.tables.columns import (
    ROLES,
    Source,
    as_value,
    check_shifted,
    resolve,
    source_of,
    with_rule,
)
from countmorl.data.tables.engine import pl
from countmorl.data.tables.expressions import read_formula, unknown_name
from countmorl.data.tables.frame import Frame
from countmorl.data.tables.request import RULES, Request, matches
from countmorl.data.tables.scan import Table
from countmorl.errors import ConfigError, DataError
from countmorl.schema import Column

Flag = Literal["terminated", "truncated", "flag"]
FLAGS: tuple[Flag, ...] = ("terminated", "truncated", "flag")


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout:
    """Columns by the part they play."""

    frame: Frame
    obs: tuple[Source, ...]
    action: tuple[Source, ...]
    reward: Source
    propensity: Source | None
    """How likely each action was when it was taken, where the table tells."""
    flags: dict[Flag, Source]
    episode: pl.Expr | None
    time: pl.Expr | None
    dated: bool
    """Whether time is told by dates, in microseconds then."""

    @property
    def columns(self) -> tuple[Source, ...]:
        """Columns of observation and action."""
        return (*self.obs, *self.action)

    @property
    def others(self) -> dict[str, Source]:
        """What else every row holds, by its part."""
        likely = {} if self.propensity is None else {"propensity": self.propensity}
        return {"reward": self.reward, **likely, **self.flags}


def lay_out(table: Table, request: Request) -> Layout:
    """Find every column that is asked for; what does not exist or fit is refused."""
    try:
        layout = _laid_out(table, request)
        for source in (*layout.columns, *layout.others.values()):
            check_shifted(source, layout.frame)
        return layout
    except ConfigError as error:
        raise ConfigError(f"{table.name}: {error}") from error.__cause__


def _laid_out(table: Table, request: Request) -> Layout:
    if request.reward is None:
        raise ConfigError("No reward is named. Give a column or an expression of columns.")
    _refuse_absent(request, table)
    frame, names = Frame(table, request), table.names
    obs = resolve(request.obs, names, request, "obs")
    action = resolve(request.action, names, request, "action")
    both = [item.name for item in action if item.name in {each.name for each in obs}]
    if both:
        raise ConfigError(
            f"'{both[0]}' is both in `obs` and in `action`. What is being decided cannot be seen; "
            "what was done before is seen with --history 2."
        )
    _refuse_unmatched(request, [*names, *(item.name for item in (*obs, *action))])
    frame.look(item.name for item in (*obs, *action) if item.expression is None)
    time, dated = _time(frame, request.time)
    acted = tuple(source_of(item, frame, request, is_action=True) for item in action)
    return Layout(
        frame=frame,
        obs=tuple(source_of(item, frame, request, is_action=False) for item in obs),
        action=acted,
        reward=_reward(frame, request, request.reward),
        propensity=_propensity(frame, request, acted),
        flags=_flags(frame, request),
        episode=_episode(frame, request.episode),
        time=time,
        dated=dated,
    )


def _refuse_absent(request: Request, table: Table) -> None:
    """Refuse columns that some files of a table lack; a wild-card would pass over them."""
    roles = [getattr(request, role) for role in ROLES]
    asked = [item for item in (*request.obs, *request.action, *roles) if item is not None]
    for name, file in sorted(table.absent.items()):
        if any(matches(item, name) for item in asked):
            raise ConfigError(
                f"{file} has no column '{name}', which other files of the table have. Import "
                "columns that all files have, or files that have all columns."
            )


def _refuse_unmatched(request: Request, names: list[str]) -> None:
    """A rule that names nothing is a slip, and would be lost in silence."""
    known = [*names, "reward", "propensity", *FLAGS]
    said = {each.partition("=")[0].strip(): "missing" for each in request.missing if "=" in each}
    said |= dict.fromkeys(request.categories, "categories")
    said |= {each.partition("=")[0].strip(): "scale" for each in request.scale}
    said |= dict.fromkeys(request.columns, "columns")
    for pattern, option in said.items():
        if not any(matches(pattern, name) for name in known):
            raise unknown_name(pattern, known, f"`{option}`")


def _reward(frame: Frame, request: Request, text: str) -> Source:
    source = _number(frame, text, "reward")
    rule = request.rule("reward", text)
    rule = _said(request, "reward", text) if rule is None else rule
    column = with_rule(Column(name=source.column.name), rule, is_action=True)
    return replace(source, column=column)


def _propensity(frame: Frame, request: Request, action: tuple[Source, ...]) -> Source | None:
    text = request.propensity
    if text is None:
        return None
    numbers = [source.column.name for source in action if source.column.kind != "category"]
    if numbers:
        raise ConfigError(
            f"`propensity` is for actions that are one of a list; '{numbers[0]}' is a number, of "
            "which a log can hold densities, and those are no probabilities. Leave it out, or say "
            "--discrete where the action is a choice."
        )
    if request.frame_skip > 1:
        raise ConfigError(
            f"With `frame_skip` {request.frame_skip} a step is made of as many actions, and "
            "`propensity` says how likely one of them was. Leave out one of the two."
        )
    rule = request.rule(text, "propensity", bare=False) or _said(request, "propensity", text)
    if rule not in (None, "refuse"):
        raise ConfigError(
            "Nothing can stand for a missing `propensity`: nobody knows afterwards how likely an "
            "action was. Leave such rows out of the table, or the column."
        )
    return _number(frame, text, "propensity")


def _flags(frame: Frame, request: Request) -> dict[Flag, Source]:
    found: dict[Flag, Source] = {}
    for flag in FLAGS:
        text = getattr(request, flag)
        if text is None:
            continue
        source = _value(frame, text, flag, is_flag=True)
        if flag == "flag" and source.is_shifted:
            raise ConfigError(
                "`flag` says where episodes begin, so it cannot look at other rows of an episode."
            )
        rule = request.rule(flag, text, bare=False)
        rule = _said(request, flag, text) if rule is None else rule
        column = Column(name=source.column.name, kind="boolean")
        if rule in RULES and rule != "refuse":
            raise ConfigError(
                f"A missing flag such as '{column.name}' is true or false: --missing "
                f"{column.name}=false. It cannot be '{rule}'."
            )
        if rule is not None and rule != "refuse":
            column = replace(column, missing="value", fill=as_value(rule, column.name))
        found[flag] = replace(source, column=column)
    return found


def _said(request: Request, *names: str) -> str | bool | float | None:
    """What a table of the schema file says of missing values of a reward or a flag."""
    said = [request.columns[name].missing for name in names if name in request.columns]
    return next((rule for rule in said if rule is not None), None)


def _number(frame: Frame, text: str, what: str) -> Source:
    """A column or an expression that gives numbers."""
    source = _value(frame, text, what)
    if source.holds not in ("number", "boolean"):
        raise frame.cannot_be(text, "number", source.holds)
    return source


def _value(frame: Frame, text: str, what: str, *, is_flag: bool = False) -> Source:
    """A column, or an expression."""
    if text in frame.names:
        if is_flag:
            return Source(Column(name=text), frame.flag(text), "boolean")
        return Source(Column(name=text), pl.col(text), frame.meaning(text).holds)
    formula = read_formula(text, frame.names, f"`{what}`")
    holds = frame.holds_of(formula)
    if is_flag and holds not in ("boolean", "number"):
        raise ConfigError(f"`{what}` must be true or false; '{text}' gives words.")
    return Source(Column(name=what), None if formula.shifts else formula.expr, holds, formula)


def _episode(frame: Frame, text: str | None) -> pl.Expr | None:
    if text is None:
        return None
    if text in frame.names:
        return frame.identity(text)
    formula = read_formula(text, frame.names, "`episode`")
    if formula.shifts:
        raise ConfigError("`episode` cannot look at other rows; --flag or --gap cut by those.")
    frame.holds_of(formula)
    return formula.expr


def _time(frame: Frame, name: str | None) -> tuple[pl.Expr | None, bool]:
    if name is None:
        return None, False
    if name not in frame.names:
        raise unknown_name(name, frame.names, "`time`")
    holds = frame.meaning(name).holds
    if holds == "time":
        return pl.col(name).dt.timestamp("us"), True
    if holds != "number":
        raise frame.cannot_be(name, "elapsed", holds)
    return pl.col(name), False


def no_rows(table: Table, rows: int) -> DataError:
    """What is said of a table that is too short."""
    got = "no rows" if rows == 0 else "one row"
    return DataError(f"{table.name} has {got}. A log needs at least two, one after the other.")
