"""Schema files: what a person says about a log, in TOML."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from countmorl.data.tables.request import Request, Setting, request_of
from countmorl.data.tables.words import label
from countmorl.errors import ConfigError

LINE = 96


def read_request(path: Path) -> Request:
    """Read a schema file; what is not known in it is refused."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"There is no schema file {path}.") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not a readable schema file: {error}.") from error
    columns = found.get("columns", {})
    if isinstance(columns, dict):
        for said in columns.values():
            if isinstance(said, dict) and isinstance(said.get("values"), list):
                said["values"] = [label(value) for value in said["values"]]
    try:
        return request_of(found)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def write_request(request: Request, notes: Mapping[str, str]) -> str:
    """A request as a schema file; `notes` are comments by the name of a setting or column."""
    lines: list[str] = []
    default = Request()
    for each in fields(Request):
        value, note = getattr(request, each.name), notes.get(each.name)
        said = value != getattr(default, each.name)
        if each.name != "columns" and (said or note):
            lines += _comment(note)
            lines += [f"{each.name} = {_value(value)}", ""] if said else [""]
    for name, setting in request.columns.items():
        lines += [f"[columns.{_key(name)}]", *_comment(notes.get(f"columns.{name}"))]
        lines += _settings(setting)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _settings(setting: Setting) -> list[str]:
    said = {f.name: getattr(setting, f.name) for f in fields(Setting)}
    return [f"{key} = {_value(value)}" for key, value in said.items() if value is not None]


def _comment(text: str | None) -> list[str]:
    return [f"# {line}" for line in text.splitlines()] if text else []


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
