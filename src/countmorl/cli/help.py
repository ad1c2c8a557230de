"""Help pages: what a command does and every option of it, the ones that matter first."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import docstring_parser
from rich.console import Console
from rich.table import Table
from tyro.conf import Positional

HELP = ("-h", "--help")
WORDS = {int: "INT", float: "FLOAT", str: "TEXT", Path: "PATH"}
WIDEST = 100


@dataclass(frozen=True)
class Option:
    """One option or positional argument, as a person reads of it."""

    name: str
    """How it is typed: DATA, --epochs, --sac.no-critic-norm."""
    wants: str
    """What stands behind it, such as INT; nothing for a flag."""
    about: str
    default: str
    group: str = ""
    """The nested settings that it belongs to: model, sac, ..."""
    short: str = ""
    """A shorter spelling, such as -o."""

    @property
    def positional(self) -> bool:
        """Whether it is given by its place."""
        return not self.name.startswith("-")


def print_listing(usage: str, title: str, listed: Mapping[str, str], foot: str = "") -> None:
    """Print commands with a line each."""
    console = _console()
    console.print(f"usage: {usage}\n\n{title}\n", markup=False, highlight=False)
    _table(console, listed.items())
    if foot:
        console.print(f"\n{foot}", markup=False, highlight=False)


def print_page(command: Callable[..., Any], prog: str, first: Iterable[str] = ()) -> None:
    """Print the help of one command; options named in `first` stand before an advanced part."""
    options = options_of(command)
    positional = " ".join(option.name for option in options if option.positional)
    console = _console()
    console.print(f"usage: {prog} {positional} [OPTIONS]".replace("  ", " "), markup=False)
    for paragraph in _paragraphs(_parsed(command)):
        console.print(f"\n{paragraph}", markup=False, highlight=False)
    for title, part in _parts(options, tuple(first)).items():
        console.print(f"\n{title}", markup=False, highlight=False, style="bold")
        _table(console, ((_typed(option), _said(option)) for option in part))


def options_of(command: Callable[..., Any]) -> list[Option]:
    """Every option of a command, those of nested settings by their dotted names."""
    hints = get_type_hints(command, include_extras=True)
    about = {each.arg_name: _joined(each.description) for each in _parsed(command).params}
    found: list[Option] = []
    for name, parameter in inspect.signature(command).parameters.items():
        hint, default = _bare(hints[name]), parameter.default
        if is_dataclass(hint):
            nested = hint() if default is inspect.Parameter.empty else default  # type: ignore[operator]
            found += _nested(nested, "" if _is_flat(hints[name]) else f"{name}.")
        elif metavar := _metavar(hints[name]):
            several = " ..." if get_origin(hint) is tuple else ""
            found.append(Option(metavar + several, "", about.get(name, ""), ""))
        else:
            option = _option(name, hint, default, about.get(name, ""))
            found.append(replace(option, short=_short(hints[name])))
    return found


def _nested(config: Any, prefix: str = "") -> list[Option]:
    hints, about = get_type_hints(type(config)), field_docs(type(config))
    found: list[Option] = []
    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value):
            found += _nested(value, f"{prefix}{field.name}.")
        else:
            said = about.get(field.name, "")
            found.append(_option(f"{prefix}{field.name}", hints[field.name], value, said))
    return found


def _option(name: str, hint: Any, default: Any, about: str) -> Option:
    typed, group = name.replace("_", "-"), name.rpartition(".")[0]
    if hint is bool:
        if default:  # What is on is turned off by a flag of its own.
            *before, last = typed.split(".")
            negative = ".".join([*before, f"no-{last}"])
            return Option(f"--{typed}", f"| --{negative}", about, "on", group)
        return Option(f"--{typed}", "", about, "", group)
    shown = "" if default is None or default is inspect.Parameter.empty else _value(default)
    return Option(f"--{typed}", _wants(hint), about, shown, group)


@cache
def field_docs(cls: type) -> dict[str, str]:
    """What is said under each field of a config, by the class that says it last."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if is_dataclass(base):
            parsed = docstring_parser.parse_from_object(base)
            found |= {each.arg_name: _joined(each.description) for each in parsed.params}
    return found


def _parts(options: list[Option], first: tuple[str, ...]) -> dict[str, list[Option]]:
    """Arguments, then what matters, then the rest by the settings it belongs to."""
    wanted = {f"--{name.replace('_', '-')}" for name in first}
    parts = {"arguments": [option for option in options if option.positional]}
    others = [option for option in options if not option.positional]
    title = "settings that matter" if first else "options"
    order = [f"--{name.replace('_', '-')}" for name in first]
    leading = [option for option in others if option.name in wanted] if first else others
    if first:
        leading.sort(key=lambda option: order.index(option.name))
    parts[title] = leading
    for option in others:
        if option not in leading:
            heading = f"advanced: {option.group}" if option.group else "advanced"
            parts.setdefault(heading, []).append(option)
    return {title: part for title, part in parts.items() if part}


def _wants(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return "|".join(_wants(each) for each in inner if each is not type(None))
    if origin is Literal:
        return "|".join(map(str, inner))
    if origin is tuple:
        words = _wants(inner[0]).removesuffix(" ...")
        return (
            f"{words} ..."
            if len(inner) == 2 and inner[1] is ...
            else " ".join([words] * len(inner))
        )
    return WORDS.get(hint, "VALUE")


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value)


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _is_flat(hint: Any) -> bool:
    """Whether nested settings go without a prefix."""
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return any(getattr(mark, "name", None) == "" for mark in marks)


def _metavar(hint: Any) -> str | None:
    """What a positional argument is called; None for an option."""
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if not any(mark is get_args(Positional[int])[1] for mark in marks):
        return None
    return next((m.metavar for m in marks if getattr(m, "metavar", None)), "ARGUMENT")


def _short(hint: Any) -> str:
    """A shorter spelling of an option, where it has one."""
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    names = [name for mark in marks for name in getattr(mark, "aliases", None) or ()]
    return names[0] if names else ""


def _parsed(command: Callable[..., Any]) -> docstring_parser.Docstring:
    return docstring_parser.parse(inspect.getdoc(command) or "")


def _paragraphs(doc: docstring_parser.Docstring) -> list[str]:
    # The parser ends the short description with its line, in the middle of a sentence or not.
    between = "\n\n" if doc.blank_after_short_description else "\n"
    text = between.join(filter(None, (doc.short_description, doc.long_description)))
    return [_joined(paragraph) for paragraph in text.split("\n\n")]


def _joined(text: str | None) -> str:
    return " ".join((text or "").split())


def _typed(option: Option) -> str:
    names = f"{option.name}, {option.short}" if option.short else option.name
    return f"{names} {option.wants}".strip()


def _said(option: Option) -> str:
    return f"{option.about} (default: {option.default})" if option.default else option.about


def _table(console: Console, rows: Iterable[tuple[str, str]]) -> None:
    table = Table(box=None, show_header=False, pad_edge=True, padding=(0, 1))
    table.add_column(max_width=34, overflow="fold")
    table.add_column(overflow="fold")
    for name, about in rows:
        table.add_row(name, about)
    console.print(table, markup=False, highlight=False)


def _console() -> Console:
    console = Console(markup=False, highlight=False)
    return (
        console if console.width <= WIDEST else Console(markup=False, highlight=False, width=WIDEST)
    )
