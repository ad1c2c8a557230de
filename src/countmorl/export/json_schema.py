"""A JSON schema of a config dataclass, so that other languages can check its files."""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

DRAFT = "https://json-schema.org/draft/2020-12/schema"
PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def json_schema(cls: type) -> dict[str, Any]:
    """The schema of what `to_json` makes of a dataclass."""
    return {"$schema": DRAFT, **_table(cls)}


def _table(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    names = {field.name: "absent" in field.metadata for field in fields(cls)}
    return {
        "title": cls.__name__,
        "description": (cls.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": {name: _one(hints[name]) for name in names},
        "required": [name for name, may_lack in names.items() if not may_lack],
        "additionalProperties": False,
    }


def _one(hint: Any) -> dict[str, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_one(option) for option in inner]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is tuple:
        return {"type": "array", "items": _one(inner[0])}
    if is_dataclass(hint) and isinstance(hint, type):
        return _table(hint)
    return {"type": PLAIN[hint]}
