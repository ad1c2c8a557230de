"""Schema files: what a person says about a log, in TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from countmorl.data.tables.request import Request, Setting, request_of
from countmorl.data.tables.words import label
from countmorl.errors import ConfigError
from countmorl.toml_files import parse_toml

LINE = 96


def read_request(path: Path) -> Request:
    """Read a schema file; what is not known in it is refused."""
    found = parse_toml(path, "schema file")
    columns = found.get("columns", {})
    if isinstance(columns, dict):
        for said in columns.values():
            if isinstance(said, dict) and isinstance(said.get("values"), list):
                said["values"] = [label(value) for value in said["values"]]
    try:
        return request_of(found)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def write_request(
    request: Request,
    *,
    facts: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
) -> str:
    """A request as a schema file.

    `facts` are comments about columns, by name; `notes` are comments about settings, and stand
    for those that are not said.
    """
    facts, notes = facts or {}, notes or {}
    lines: list[str] = []
    default = Request()
    for each in fields(Request):
        value = getattr(request, each.name)
        if each.name == "columns":
            continue
        if value != getattr(default, each.name):
            lines += [f"{each.name} = {_named(value, facts)}", ""]
        elif each.name in notes:
            lines += [f"# {each.name} = ...  {notes[each.name]}", ""]
    for name, setting in request.columns.items():
        lines += [f"[columns.{_key(name)}]", *_settings(setting), ""]
    return "\n".join(lines).rstrip() + "\n"


def _named(value: Any, facts: Mapping[str, str]) -> str:
    """A value, with what is known about the columns that it names."""
    if isinstance(value, str) and value in facts:
        return f"{_text(value)}  # {_line(facts[value])}"
    if isinstance(value, tuple) and any(name in facts for name in value):
        told = [
            f"    {_value(n)},  # {_line(facts[n])}" if n in facts else f"    {_value(n)},"
            for n in value
        ]
        return "\n".join(["[", *told, "]"])
    return _value(value)


def _line(text: str) -> str:
    """A comment must not break its line."""
    return " ".join(text.split())


def _settings(setting: Setting) -> list[str]:
    said = {f.name: getattr(setting, f.name) for f in fields(Setting)}
    return [f"{key} = {_value(value)}" for key, value in said.items() if value is not None]


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else _text(name)


def _text(text: str) -> str:
    # A string of JSON is one of TOML too, but for one character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        parts = [_value(each) for each in value]
        joined = f"[{', '.join(parts)}]"
        return joined if len(joined) < LINE else "[\n" + "".join(f"    {p},\n" for p in parts) + "]"
    return _text(value) if isinstance(value, str) else repr(value)
