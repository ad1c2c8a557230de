"""Config dataclasses to JSON and back. Unknown or missing keys and wrong types are errors."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from countmorl.errors import ConfigError, did_you_mean

T = TypeVar("T")
MOST_WHOLE = 2**64
"""Whole numbers beyond it are no settings: larger ones still overflow where they become floats."""


def added(absent: Any, **default: Any) -> Any:
    """A field that files of earlier versions lack, whose absence there means `absent` for good.

    Its default is the same, unless `default` names another one.
    """
    return dataclasses.field(**({"default": absent} | default), metadata={"absent": absent})


def to_json(config: Any) -> dict[str, Any]:
    """Return a config dataclass as JSON-able values."""
    return asdict(config)


def from_json(cls: type[T], values: Any) -> T:
    """Rebuild a config dataclass; what does not fit is a `ConfigError` that names the field."""
    if not isinstance(values, dict):
        raise ConfigError(f"The config of {cls.__name__} must be a table, got {values!r}.")
    hints = get_type_hints(cls)
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    for key in values:
        if key not in names:
            raise ConfigError(
                f"{cls.__name__} has no setting '{key}'.{did_you_mean(key, names)} "
                f"It has: {', '.join(names)}."
            )
    given = {key: _value(key, hints[key], value) for key, value in values.items()}
    for each in fields(cls):  # type: ignore[arg-type]
        if "absent" in each.metadata:
            given.setdefault(each.name, each.metadata["absent"])
    missing = [name for name in names if name not in given]
    if missing:  # A default of today need not be what it was when the file was written.
        raise ConfigError(
            f"The config of {cls.__name__} lacks {', '.join(missing)}; another version of "
            "countmorl wrote it. Start a new run."
        )
    return cls(**given)


def with_values(config: T, values: Mapping[str, Any]) -> T:
    """Change settings by their dotted names; unknown ones are errors with a suggestion."""
    tree = to_json(config)
    for dotted, value in values.items():
        *outer, last = dotted.split(".")
        place: Any = tree
        for depth, name in enumerate(outer):
            place = place.get(name)
            if not isinstance(place, dict):
                raise _no_setting(config, ".".join(outer[: depth + 1]), dotted)
        if last not in place:
            raise _no_setting(config, dotted, dotted)
        place[last] = value
    return from_json(type(config), tree)


def dotted_names(config: Any) -> list[str]:
    """Every setting of a config by its dotted name, nested ones included."""
    return list(flatten(to_json(config)))


def flatten(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Values of nested tables by their dotted names."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        nested = isinstance(value, dict)
        found |= flatten(value, f"{before}{name}.") if nested else {f"{before}{name}": value}
    return found


def _no_setting(config: Any, name: str, dotted: str) -> ConfigError:
    known = dotted_names(config)
    hint = did_you_mean(dotted, known) or did_you_mean(name, known)
    return ConfigError(f"{type(config).__name__} has no setting '{dotted}'.{hint}")


def check_types(config: Any) -> None:
    """Raise a `ConfigError` that names the field where a value is not what its field says."""
    hints = get_type_hints(type(config))
    for field in fields(config):
        hint, given = hints[field.name], getattr(config, field.name)
        if (value := _plain(given)) is not given:
            object.__setattr__(config, field.name, value)
        options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        if not any(_fits(option, value) for option in options):
            _refuse(field.name, hint, value)


def _plain(value: Any) -> Any:
    """A number of NumPy's is as good as one of Python's, and a list as a tuple."""
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    return value.item() if isinstance(value, np.generic) else value


def at_least(config: object, **least: float) -> None:
    """Raise where a field of a config is below its least value, or infinite."""
    for name, value in least.items():
        got = getattr(config, name)
        if not got >= value:
            raise ConfigError(f"`{name}` must be at least {value:g}, got {got:g}.")
        if got == float("inf"):
            raise ConfigError(f"`{name}` must be finite, got {got:g}.")


def positive(config: object, *names: str) -> None:
    """Raise where a field of a config is not above zero."""
    for name in names:
        got = getattr(config, name)
        if not 0 < got < float("inf"):
            raise ConfigError(f"`{name}` must be a number above 0, got {got:g}.")


def finite(config: object, *names: str) -> None:
    """Raise where a field of a config is given and not a finite number."""
    for name in names:
        got = getattr(config, name)
        if got is not None and not abs(got) < float("inf"):
            raise ConfigError(f"`{name}` must be finite, got {got:g}.")


def layer_sizes(hidden: tuple[int, ...]) -> None:
    """Raise where a hidden layer has no units."""
    if any(size < 1 for size in hidden):
        raise ConfigError(f"`hidden` must hold layer sizes of at least 1, got {hidden}.")


def _value(key: str, hint: Any, value: Any) -> Any:
    if is_dataclass(hint) and isinstance(hint, type):
        return from_json(hint, value)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        fitting = [option for option in inner if _fits(option, value)]
        return _value(key, fitting[0], value) if fitting else _refuse(key, hint, value)
    if not _fits(hint, value):
        _refuse(key, hint, value)
    if origin is tuple:
        return tuple(_value(key, inner[0], item) for item in value)
    if origin is dict and inner[1] is not Any:
        return {name: _value(key, inner[1], item) for name, item in value.items()}
    return float(value) if hint is float else value


def _fits(hint: Any, value: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is type(None) or hint is None:
        return value is None
    if origin is Literal:
        return value in inner
    if is_dataclass(hint):
        return isinstance(value, (dict, hint))  # type: ignore[arg-type]
    if origin in (dict, Mapping):
        return isinstance(value, Mapping)
    if origin is tuple:
        return isinstance(value, (list, tuple)) and all(_fits(inner[0], item) for item in value)
    if isinstance(value, bool):
        return hint is bool
    if hint is float:
        return isinstance(value, float) or (isinstance(value, int) and abs(value) <= MOST_WHOLE)
    return isinstance(value, hint)


def _refuse(key: str, hint: Any, value: Any) -> Any:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    raise ConfigError(f"`{key}` must be {_wanted(hint)}, got {shown}.")


def _wanted(hint: Any) -> str:
    """What a type asks for, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_wanted(option) for option in inner)
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is tuple:
        return f"a list of {_wanted(inner[0])}"
    if origin in (dict, Mapping) or is_dataclass(hint):
        return "a table"
    return "None" if hint is type(None) else getattr(hint, "__name__", str(hint))
