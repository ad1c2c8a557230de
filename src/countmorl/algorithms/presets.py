"""Settings by name, as Python values: published ones, and one sized for minutes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.count_morl import CountMORL
from countmorl.configs import with_values
from countmorl.errors import ConfigError

PresetName = Literal["default", "paper", "quick"]


def preset(
    name: PresetName,
    algorithm: type[AbstractAlgorithm],
    data: str,
    *,
    chosen: AbstractAlgorithm | None = None,
) -> AbstractAlgorithm:
    """Return an algorithm's settings for a dataset; `chosen` ones may decide others.

    Count-MORL's beta in the paper goes with its estimate.
    """
    if name == "default":
        return algorithm()
    if name == "quick" and algorithm is CountMORL:
        return quick()
    if name == "paper" and algorithm.published is not None:
        return published(algorithm, algorithm.published_rows(chosen), data)
    raise ConfigError(f"{algorithm.__name__} has no preset '{name}'; omit --preset.")


def presets_of(algorithm: type[AbstractAlgorithm]) -> str | None:
    """Tell which presets an algorithm has, and whose settings they are; None where it has none."""
    found = ["default"]
    if algorithm.published:
        found.append(f"paper (12 tasks of D4RL; {algorithm.published.source})")
    if algorithm is CountMORL:
        found.append("quick (minutes)")
    return ", ".join(found) if len(found) > 1 else None


AS_PUBLISHED = {
    "continued": 0.0,
    "branches": 50_000,
    "conservative.sampled": False,
    "conservative.every": 1,
    "model.learning_rate": 1e-3,
    "model.decay": False,
    "model.max_epochs": 200,
    "model.least_steps": 1,
    "model.log_var_min": -10.0,
    "model.norm": False,
    "model.scale_targets": False,
    "sac.discount": 0.99,
    "sac.actor_rate": 1e-4,
    "sac.entropy_rate": 1e-4,
    "sac.critic_norm": False,
    "sac.normalize": False,
    "sac.average_share": 0.0,
    "sac.mean_start": False,
    "sac.reward_scale": 1.0,
    "td3.discount": 0.99,
    "td3.average_share": 0.0,
    "td3.mean_start": False,
    "td3.reward_scale": 1.0,
}
"""What the published versions have in common, and our defaults have not."""


def published(
    algorithm: type[AbstractAlgorithm], rows: Mapping[str, Mapping[str, Any]], data: str
) -> AbstractAlgorithm:
    """An algorithm's published settings for one of D4RL's tasks, without our steadier choices."""
    task = task_name(data, rows)
    if task is None:
        raise ConfigError(
            f"No settings of {algorithm.__name__} are published for '{data}', only for names "
            f"that begin with: {', '.join(rows)}. Omit --preset for the defaults."
        )
    config = algorithm()
    own = {name: v for name, v in AS_PUBLISHED.items() if hasattr(config, name.split(".")[0])}
    return with_values(config, own | dict(rows[task]))


def task_name(data: str, known: Iterable[str]) -> str | None:
    """Find a dataset's task by its name or its file's name; the longest match counts.

    A task's name must be followed by no further letter: a `hopper_mediumreplay.hdf5` is no medium.
    """
    name = data.replace("\\", "/").split("/")[-1].lower().replace("_", "-")
    whole = (key for key in known if re.match(rf"{key}(?![a-z])", name))
    return max(whole, key=len, default=None)


def quick() -> CountMORL:
    """A small model, short rollout batches and few epochs: minutes on a laptop."""
    base = CountMORL()
    return replace(
        base,
        epochs=30,
        branches=5_000,
        model=replace(base.model, max_epochs=30),
        codes=replace(base.codes, fit_epochs=3),
    )
