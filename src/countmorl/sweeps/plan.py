"""`Sweep`: a table of runs, with what they share, before anything starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_alone import AbstractAlone, CodesAlone, ModelAlone
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.configs import to_json
from countmorl.counting.base import CodesConfig
from countmorl.data.sources import is_named, locate
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.runs.options import DataOptions, RunOptions
from countmorl.sweeps.methods import Method
from countmorl.sweeps.rows import Row, short_hash, slug

MOST = 10_000
"""Runs of a plan at the most: more is a mistake in a grid."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Rows in the order in which they are begun; what is shared stands before its first user."""

    name: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What a person should know of it, in sentences."""

    @classmethod
    def of(
        cls,
        methods: Iterable[Method | AbstractAlgorithm | str] | Mapping[str, AbstractAlgorithm | str],
        data: Sequence[str | Path],
        *,
        seeds: int | Sequence[int] = 1,
        name: str = "sweep",
        options: RunOptions | None = None,
        data_options: DataOptions | None = None,
    ) -> Sweep:
        """Plan every method on every dataset with every seed.

        `methods` are configs, names or `Method`s; a mapping gives them labels. `data` are names or
        files. `seeds` are numbers, or how many: 5 is 0 to 4.
        """
        listed, sources = _methods(methods), [str(each) for each in data]
        numbers = seeds_of(seeds)
        _check_size(listed, sources, numbers)
        options, names = options or RunOptions(), data_names(sources)
        rows = [
            _row(method, label, settings, source, names[source], seed, options, data_options)
            for source in sources
            for seed in numbers
            for method in listed
            for label, settings in method.variants()
        ]
        alone = ", ".join(method.name for method in listed if not method.has_preset)
        note = f"No settings are published for {alone}: their defaults are taken."
        return cls.of_rows(name, rows, (note,) if alone else ())

    @classmethod
    def of_rows(cls, name: str, rows: Iterable[Row], notes: tuple[str, ...] = ()) -> Sweep:
        """Add what rows share; no two may be called alike."""
        whole = with_shared(rows)
        if not whole:
            raise ConfigError("The plan has no runs: it wants a method, data and a seed.")
        return cls(name=name, rows=tuple(whole), notes=notes)

    def __add__(self, other: Sweep) -> Sweep:
        """Both plans as one; what they share is there once."""
        known = {row.name: row for row in self.rows}
        more = [row for row in other.rows if known.get(row.name) != row]
        notes = tuple(dict.fromkeys(self.notes + other.notes))
        return Sweep.of_rows(self.name, [*self.rows, *more], notes)

    @property
    def trained(self) -> tuple[Row, ...]:
        """The rows that train a policy."""
        return tuple(row for row in self.rows if not isinstance(row.config, AbstractAlone))

    @property
    def sources(self) -> list[tuple[str, DataOptions]]:
        """Every dataset of the plan, with how it is read, once."""
        return list(dict.fromkeys((row.data, row.data_options) for row in self.rows))


def seeds_of(seeds: int | Sequence[int]) -> list[int]:
    """Numbers of seeds; a single number says how many."""
    if isinstance(seeds, int) and seeds > MOST:
        raise ConfigError(f"`seeds` must be at most {MOST:,}, got {seeds:,}.")
    numbers = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not numbers:
        raise ConfigError(
            "The plan has no seeds: `seeds` must be at least 1, or a list of numbers."
        )
    return numbers


def data_names(sources: Sequence[str]) -> dict[str, str]:
    """What each dataset is called in folders: its name, with its folder's where that is needed."""
    stems = {
        each: each.replace(":", "-") if is_named(each) else Path(each).stem for each in sources
    }
    often = Counter(stems.values())
    return {
        each: stem if often[stem] == 1 else f"{Path(each).absolute().parent.name}-{stem}"
        for each, stem in stems.items()
    }


def with_shared(rows: Iterable[Row]) -> list[Row]:
    """Put models and codes before the rows that use them, once for each that is needed.

    Always, also where one row alone uses them: a plan that grows later shares what is there.
    """
    found: dict[str, Row] = {}
    for row in rows:
        last = None
        for shared in _shared(row):
            last = found.setdefault(shared.name, shared)
            if last != shared:
                raise _twice(shared.name)
        if row.name in found:
            raise _twice(row.name)
        found[row.name] = replace(row, model=last.name) if last else row
    return list(found.values())


def _twice(name: str) -> ConfigError:
    return ConfigError(
        f"Two runs of the plan are called '{name}' and are not the same. Give the methods "
        "different labels."
    )


def _shared(row: Row) -> list[Row]:
    """The rows that fit a row's model, and then its codes."""
    config = row.config
    if not isinstance(config, AbstractModelBased) or row.model is not None:
        return []
    ended: dict[str, Any] = {"termination": config.termination, "model": config.model}
    model = _part(row, ModelAlone(**ended), "model", _suffix(ended))
    codes = getattr(config, "codes", None)
    if not isinstance(codes, CodesConfig) or getattr(config, "counter", "codes") != "codes":
        return [model]
    # Which codes are verified is found out by each run, after they are fitted; so is their length,
    # where all of them were fitted at once.
    alike = replace(codes, verified="auto")
    coded: dict[str, Any] = ended | {"codes": alike}
    part = _part(row, CodesAlone(**coded), "codes", _suffix(coded))
    return [model, replace(part, model=model.name)]


def _part(row: Row, config: AbstractAlone, algorithm: str, suffix: str) -> Row:
    asked = row.options
    same = {"seed": asked.seed, "save_every": asked.save_every, "simulate": asked.simulate}
    options = RunOptions(eval_every=0, keep_policies=0, **same)
    name = f"{algorithm}{suffix}-{slug(row.data_name)}-seed{row.options.seed}"
    return replace(row, name=name, algorithm=algorithm, config=config, options=options)


def _suffix(parts: Mapping[str, Any]) -> str:
    """Nothing for default settings, six digits for others: the same settings, the same name."""
    default = {"termination": None, "model": EnsembleConfig(), "codes": CodesConfig()}
    if all(default[name] == value for name, value in parts.items()):
        return ""
    said = {k: v if v is None or isinstance(v, str) else to_json(v) for k, v in parts.items()}
    return f"-{short_hash(said)}"


def _methods(methods: object) -> list[Method]:
    named = methods.items() if isinstance(methods, Mapping) else ((None, m) for m in methods)  # type: ignore[attr-defined]
    return [m if isinstance(m, Method) else Method.of(m, label) for label, m in named]


def _check_size(methods: list[Method], data: list[str], seeds: list[int]) -> None:
    runs = sum(method.size for method in methods) * len(data) * len(seeds)
    if runs > MOST:
        raise ConfigError(
            f"The plan has {runs:,} runs; at most {MOST:,} are taken. Is a list in a grid too long?"
        )
    for what, there in (("methods", methods), ("data", data)):
        if not there:
            raise ConfigError(f"The plan has no {what}.")


def _row(
    method: Method,
    label: str,
    settings: dict,
    source: str,
    data: str,
    seed: int,
    options: RunOptions,
    data_options: DataOptions | None,
) -> Row:
    try:
        config = method.config(source, settings)
        named = replace(options, seed=seed, label=label)
    except ConfigError as error:
        raise ConfigError(f"{label}: {error}") from None
    return Row(
        name=f"{slug(label)}-{slug(data)}-seed{seed}",
        algorithm=method.algorithm,
        config=config,
        data=locate(source),
        data_name=data,
        data_options=data_options or DataOptions(),
        options=named,
    )
