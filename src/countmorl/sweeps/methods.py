"""`Method`: one column of a plan, from which the rows of every dataset and seed are made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from countmorl.algorithms import algorithm_name, find_algorithm
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.presets import PresetName, preset
from countmorl.configs import with_values
from countmorl.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method and what it is told, the same on every dataset but for its preset."""

    algorithm: str
    """A name that the command line knows, or module:Class for one of your own."""
    label: str | None = None
    """What tables call it; default: its name, with what a grid varies."""
    preset: PresetName = "default"
    """Where settings come from; a method without published ones keeps its defaults."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings by their dotted names."""
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Settings of which every combination is tried."""
    base: AbstractAlgorithm | None = None
    """A whole config to begin with, in place of a preset."""

    @classmethod
    def of(cls, config: AbstractAlgorithm | str, label: str | None = None) -> Method:
        """A method with the settings of a config, or with its defaults where only named."""
        if isinstance(config, str):
            return cls(algorithm=config, label=label)
        return cls(algorithm=algorithm_name(config), label=label, base=config)

    @property
    def size(self) -> int:
        """Combinations of its grid."""
        return math.prod(len(values) for values in self.grid.values())

    def variants(self) -> list[tuple[str, dict[str, Any]]]:
        """The label and the settings of each combination of the grid."""
        empty = [name for name, values in self.grid.items() if not values]
        if empty:
            raise ConfigError(f"The grid of {self.name} has no values for `{empty[0]}`.")
        found = []
        for values in product(*self.grid.values()):
            varied = dict(zip(self.grid, values, strict=True))
            said = [f"{name} {_said(value)}" for name, value in varied.items()]
            found.append((", ".join([self.name, *said]), dict(self.settings) | varied))
        return found

    @property
    def name(self) -> str:
        """Its label, or its algorithm's name."""
        return self.label or self.algorithm

    def config(self, data: str, settings: Mapping[str, Any]) -> AbstractAlgorithm:
        """The whole config for a dataset, with these settings on top."""
        cls = find_algorithm(self.algorithm)
        if self.base is not None:
            return with_values(self.base, settings)
        if self.preset == "default" or not self.has_preset:
            return with_values(cls(), settings)
        base = preset(self.preset, cls, data)
        # A setting may decide others of a preset, as the paper's beta goes with the estimate.
        base = preset(self.preset, cls, data, chosen=with_values(base, settings))
        return with_values(base, settings)

    @property
    def has_preset(self) -> bool:
        """Whether its preset is known; the defaults stand in for one that nobody published."""
        cls = find_algorithm(self.algorithm)
        return self.preset != "paper" or cls.published is not None


def _said(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
