"""Plans in TOML files: methods, data, seeds, settings by dotted names, grids."""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from glob import glob
from pathlib import Path
from typing import Any

from countmorl.algorithms import find_algorithm
from countmorl.algorithms.presets import PresetName
from countmorl.configs import dotted_names, flatten, from_json, to_json
from countmorl.data.foreign import user_path
from countmorl.data.sources import is_named
from countmorl.errors import ConfigError, did_you_mean
from countmorl.runs.options import DataOptions, RunOptions
from countmorl.sweeps.methods import Method
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.sources import find_sources
from countmorl.toml_files import parse_toml


@dataclass(frozen=True, kw_only=True)
class MethodTable:
    """One [[methods]] of a file."""

    method: str
    label: str | None = None
    preset: PresetName | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PlanTable:
    """What a file may say."""

    data: tuple[str, ...]
    methods: tuple[MethodTable, ...]
    name: str | None = None
    tasks: tuple[str, ...] = ()
    seeds: int | tuple[int, ...] = 1
    preset: PresetName = "default"
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of every method that has them."""
    options: RunOptions = field(default_factory=RunOptions)
    data_options: DataOptions = field(default_factory=DataOptions)


def read_plan(path: Path) -> Sweep:
    """Read a plan; names of files in it are relative to its own folder."""
    said = parse_toml(path, "plan")
    try:
        return _plan(_table(said), path)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def _plan(table: PlanTable, path: Path) -> Sweep:
    methods = [
        Method(
            algorithm=each.method,
            label=each.label,
            preset=each.preset or table.preset,
            settings=_shared(table, each) | flatten(each.settings),
            grid={name: _listed(name, values) for name, values in flatten(each.grid).items()},
        )
        for each in table.methods
    ]
    return Sweep.of(
        methods,
        find_sources(_sources(table.data, path.parent), table.tasks),
        seeds=table.seeds,
        name=table.name or path.stem,
        options=table.options,
        data_options=table.data_options,
    )


def _shared(table: PlanTable, method: MethodTable) -> dict[str, Any]:
    """Settings of the whole plan that this method has; one that no method has is a mistake."""
    said = flatten(table.settings)
    has = {each.method: set(dotted_names(find_algorithm(each.method)())) for each in table.methods}
    for name in said:
        if not any(name in names for names in has.values()):
            known = sorted(set().union(*has.values()))
            raise ConfigError(f"No method has a setting '{name}'.{did_you_mean(name, known)}")
    return {name: value for name, value in said.items() if name in has[method.method]}


def _listed(name: str, values: Any) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise ConfigError(f"`grid.{name}` must be a list of values, got {str(values)[:40]}.")
    return tuple(tuple(v) if isinstance(v, list) else v for v in values)


def _sources(data: tuple[str, ...], folder: Path) -> list[str]:
    """Names as they are, files as seen from the plan's folder, patterns as what they match."""
    found: list[str] = []
    for each in data:
        if is_named(each):
            found.append(each)
            continue
        where = str(folder / user_path(each))
        matched = sorted(glob(where)) if any(c in each for c in "*?[") else [where]
        if not matched:
            raise ConfigError(f"No file matches '{each}'.")
        found += matched
    return found


def _table(said: Any) -> PlanTable:
    """Check every key and type; what is not said has its default."""
    values = _whole(PlanTable, said, "A plan")
    for name in ("data", "tasks"):
        if isinstance(values[name], str):
            values[name] = [values[name]]
    if not isinstance(values["methods"], list):
        raise ConfigError("`methods` must be a list of tables: write [[methods]].")
    values["methods"] = [_whole(MethodTable, each, "[[methods]]") for each in values["methods"]]
    for name, kind in (("options", RunOptions), ("data_options", DataOptions)):
        values[name] = _whole(kind, values[name], f"[{name}]")
    return from_json(PlanTable, values)


def _whole(kind: type, said: Any, what: str) -> dict[str, Any]:
    """What is said of a kind of table, and the defaults of what is not."""
    if not isinstance(said, dict):
        raise ConfigError(f"{what} must be a table, got {str(said)[:40]}.")
    names = [each.name for each in fields(kind)]
    for key in said:
        if key not in names:
            hint = did_you_mean(key, names)
            raise ConfigError(f"{what} has no key '{key}'.{hint} It has: {', '.join(names)}.")
    values = {each.name: said.get(each.name, _default(each)) for each in fields(kind)}
    if lacking := [name for name, value in values.items() if value is MISSING]:
        raise ConfigError(f"{what} wants `{'` and `'.join(lacking)}`: docs/sweeps.md has examples.")
    return values


def _default(each: Field) -> Any:
    if each.default_factory is not MISSING:
        made = each.default_factory()
        return to_json(made) if is_dataclass(made) else made
    return each.default
