"""Plans by name: the paper's tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.presets import PresetName
from countmorl.errors import ConfigError, did_you_mean
from countmorl.runs.options import DataOptions, RunOptions
from countmorl.sweeps.methods import Method
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.sources import find_sources

ESTIMATES = ("LC", "AVG", "UC")
BITS = (16, 32, 50, 64, 80)
COUNT = "count-morl"
LATER = ("mobile",)
"""Methods that the paper's table has not."""


def all_methods() -> list[Method]:
    """The paper's nine, Count-MORL first."""
    return [Method(algorithm=name) for name in ALGORITHMS if name not in LATER]


def estimates() -> list[Method]:
    """Count-MORL with each estimate of the count."""
    return [
        Method(algorithm=COUNT, label=f"{COUNT} {each}", settings={"estimate": each})
        for each in ESTIMATES
    ]


def dimensions() -> list[Method]:
    """Count-MORL with each length of the codes."""
    return [
        Method(algorithm=COUNT, label=f"{COUNT} d={each}", settings={"codes.bits": each})
        for each in BITS
    ]


def curves() -> list[Method]:
    """Count-MORL's three estimates beside MOPO, as in the paper's figure of learning curves."""
    return [*estimates(), Method(algorithm="mopo")]


@dataclass(frozen=True, kw_only=True)
class Named:
    """A plan of the paper."""

    about: str
    methods: Callable[[], list[Method]]
    version: str = "v2"


NAMED: dict[str, Named] = {
    "table1": Named(about="The paper's nine methods on the twelve tasks, v2.", methods=all_methods),
    "table1-v0": Named(
        about="The same on D4RL's older data, v0.", methods=all_methods, version="v0"
    ),
    "estimates": Named(about="LC, AVG and UC counts on the twelve tasks.", methods=estimates),
    "dimensions": Named(about="Codes of 16 to 80 bits on the twelve tasks.", methods=dimensions),
    "curves": Named(about="Learning curves of LC, AVG, UC and MOPO.", methods=curves),
}


def named_plan(
    name: str,
    *,
    data: Sequence[str | Path] = (),
    tasks: Sequence[str] = (),
    algorithms: Sequence[str] = (),
    seeds: int | Sequence[int] = 5,
    preset: PresetName = "default",
    settings: dict[str, Any] | None = None,
    options: RunOptions | None = None,
    data_options: DataOptions | None = None,
) -> Sweep:
    """Make a plan of the paper, restricted as is said; `settings` count for every method."""
    if name not in NAMED:
        raise ConfigError(f"No plan named '{name}'.{did_you_mean(name, NAMED)}")
    plan = NAMED[name]
    chosen = choose_methods(plan.methods(), algorithms)
    return Sweep.of(
        [
            replace(each, preset=preset, settings=dict(each.settings) | (settings or {}))
            for each in chosen
        ],
        find_sources(data or None, tasks, version=plan.version),
        seeds=seeds,
        name=name,
        options=options,
        data_options=data_options,
    )


def choose_methods(known: list[Method], algorithms: Sequence[str]) -> list[Method]:
    """Those of a plan that are named, in that order; methods of one's own, too, by module:Class."""
    if not algorithms:
        return known
    chosen: list[Method] = []
    for name in algorithms:
        fitting = [each for each in known if name in (each.algorithm, each.name)]
        if not fitting and (":" in name or name in ALGORITHMS):
            fitting = [Method(algorithm=name)]
        if not fitting:
            words = [*dict.fromkeys([*(each.name for each in known), *ALGORITHMS])]
            raise ConfigError(
                f"No method named '{name}'.{did_you_mean(name, words)} Known: {', '.join(words)}; "
                "or your own as module:Class."
            )
        chosen += fitting
    return chosen
