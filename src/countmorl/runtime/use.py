"""What a run's files say of its counts: the counter, the model's first layers, what is thin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.configs import from_json
from countmorl.errors import ConfigError, RunError
from countmorl.files import Arrays, read_arrays
from countmorl.json_files import parse_json
from countmorl.runtime.coding import CODERS, Coder, LearnedCodes, Places, Projections
from countmorl.runtime.levels import EstimateKind, Join
from countmorl.runtime.tables import Table, Tables
from countmorl.spaces import ActionSpace

TRUNK_LAYERS = 2
"""Layers of the model that codes are made of."""


@dataclass(frozen=True, kw_only=True)
class CountUse:
    """How a run uses its counter, as the counter's file says."""

    counter: str
    """Its name in `countmorl.counting.COUNTERS`."""
    beta: float
    estimate: EstimateKind
    alpha: float
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    discrete: bool
    join: Join = "counts"

    @property
    def space(self) -> ActionSpace:
        """The actions of the run's data."""
        low, high = (np.array(each, np.float32) for each in (self.action_low, self.action_high))
        return ActionSpace(low=low, high=high, discrete=self.discrete)


def run_parts(run: Path) -> dict[str, Any]:
    """What counting needs of a run, by the names of `Counts`."""
    paths = [run / "stages" / f"{name}.safetensors" for name in ("counter", "model")]
    if not all(path.exists() for path in paths):
        raise RunError(
            f"{run} holds no counts. They come with the algorithms that count, such as "
            "`countmorl train count-morl`, once their model and codes are fitted; a tabular "
            "policy has its own, `countmorl.load_policy(run).counts`."
        )
    (arrays, meta), (model, _) = map(read_arrays, paths)
    try:
        use = from_json(CountUse, meta.get("use"))
        return {
            "coder": _coder(use.counter, arrays, model),
            "tables": _tables(arrays),
            "mean": model[".standardizer.mean"],
            "std": model[".standardizer.std"],
            "use": use,
            "thin": _thin(run),
        }
    except (ConfigError, KeyError, IndexError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise RunError(f"{paths[0]} is incomplete: {said}.") from error


def _coder(counter: str, arrays: Arrays, model: Arrays) -> Coder:
    if counter not in CODERS:
        raise ConfigError(
            f"counts of the counter '{counter}' need the code that it is made of; without it "
            f"there are {', '.join(CODERS)}"
        )
    if counter == "simhash":
        return Projections(projections=arrays[".projections"])
    if counter == "exact":
        return Places(values=arrays[".values"], slack=arrays[".slack"])
    elites, whole = model[".elites"], range(len(model[".holdout_error"]))
    if not len(elites) or not set(elites.tolist()) <= set(whole):
        raise ValueError("its elites are not members")

    def trunk(part: str) -> tuple[np.ndarray, ...]:
        return tuple(
            layer[elites] for layer in _in_order_of_number(model, f".members.{part}")[:TRUNK_LAYERS]
        )

    def net(name: str) -> dict[str, tuple[np.ndarray, ...]]:
        parts = ("weights", "biases")
        return {
            f"{name}_{p}": _in_order_of_number(arrays, f".autoencoders.{name}.{p}") for p in parts
        }

    verified = {"limits": arrays[".limits"], **net("decoder")} if ".limits" in arrays else {}
    return LearnedCodes(
        trunk_weights=trunk("weights"),
        trunk_biases=trunk("biases"),
        trunk_gains=trunk("gains"),
        hidden_mean=arrays[".autoencoders.standardizer.mean"],
        hidden_std=arrays[".autoencoders.standardizer.std"],
        **net("encoder"),
        **verified,
    )


def _tables(arrays: Arrays) -> Tables:
    words = _in_order_of_number(arrays, ".tables", ".words")
    counts, starts = (
        _in_order_of_number(arrays, ".tables", each) for each in (".counts", ".starts")
    )
    parts = zip(words, counts, starts, strict=True)
    return Tables(tuple(Table(words=w, counts=c, starts=s) for w, c, s in parts))


def _in_order_of_number(arrays: Arrays, before: str, after: str = "") -> tuple[np.ndarray, ...]:
    """Arrays that differ by a number in their names, in its order."""
    form = re.compile(rf"{re.escape(before)}\[(\d+)\]{re.escape(after)}")
    places = {int(match[1]): name for name in arrays if (match := form.fullmatch(name))}
    return tuple(arrays[name] for _, name in sorted(places.items()))


def _thin(run: Path) -> float:
    """The count below which pairs are thin; runs of earlier versions tell it less exactly."""
    path = run / "calibration.json"
    if not path.exists():
        return 1.0
    found = parse_json(path, lambda value: isinstance(value, dict), "the calibration of a run")
    bins: Any = found.get("bins")
    lowest = bins[0] if isinstance(bins, list) and bins else {}
    thin = found.get("thin")
    if thin is None:  # The mean count of the eighth of the held-out rows that count least.
        thin = lowest.get("count") if isinstance(lowest, Mapping) else None
    return max(1.0, float(thin)) if isinstance(thin, (int, float)) else 1.0
