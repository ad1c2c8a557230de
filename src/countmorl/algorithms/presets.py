"""Settings by name, as Python values: the paper's table, and one sized for minutes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.count_morl import CountMORL
from countmorl.counting.estimate import Kind
from countmorl.errors import ConfigError

PresetName = Literal["default", "paper", "quick"]


@dataclass(frozen=True)
class PaperRow:
    """One line of the paper's hyperparameter table."""

    horizon: int
    betas: dict[Kind, float]
    bits: int
    best: Kind
    """The estimate with the highest published score."""


def _row(horizon: int, lc: float, avg: float, uc: float, bits: int, best: Kind) -> PaperRow:
    return PaperRow(horizon, {"LC": lc, "AVG": avg, "UC": uc}, bits, best)


PAPER: dict[str, PaperRow] = {
    "halfcheetah-random": _row(5, 1, 0.5, 1, 50, "LC"),
    "hopper-random": _row(20, 1, 1, 3, 80, "LC"),
    "walker2d-random": _row(20, 1, 1, 1, 64, "LC"),
    "halfcheetah-medium": _row(5, 1, 1, 3, 32, "AVG"),
    "hopper-medium": _row(20, 1, 1, 1, 50, "UC"),
    "walker2d-medium": _row(20, 3, 3, 3, 32, "AVG"),
    "halfcheetah-medium-replay": _row(5, 1, 3, 3, 32, "UC"),
    "hopper-medium-replay": _row(5, 3, 3, 1, 50, "UC"),
    "walker2d-medium-replay": _row(5, 1, 3, 1, 32, "UC"),
    "halfcheetah-medium-expert": _row(5, 3, 1, 3, 32, "UC"),
    "hopper-medium-expert": _row(20, 3, 3, 3, 50, "UC"),
    "walker2d-medium-expert": _row(20, 3, 3, 3, 50, "UC"),
}
"""H, beta for each estimate, d (Appendix, hyperparameters), and which estimate scored best."""


AS_IN_THE_PAPER = {
    "epochs": 1000,
    "sac.actor_rate": 3e-4,
    "sac.entropy_rate": 3e-4,
    "sac.target_entropy": -3.0,
    "sac.log_std_min": -20.0,
    "sac.actor_decay": False,
}
"""What Count-MORL has on every task."""


def paper_rows(estimate: Kind | None = None) -> dict[str, dict[str, Any]]:
    """The paper's settings of each task, for one estimate or for the one that scored best."""

    def settings(row: PaperRow) -> dict[str, Any]:
        kind = estimate or row.best
        chosen = {"estimate": kind, "beta": row.betas[kind]}
        return AS_IN_THE_PAPER | chosen | {"horizon": row.horizon, "codes.bits": row.bits}

    return {task: settings(row) for task, row in PAPER.items()}


def preset(
    name: PresetName,
    algorithm: type[AbstractAlgorithm],
    data: str,
    *,
    estimate: Kind | None = None,
) -> AbstractAlgorithm:
    """Return an algorithm's settings for a dataset; Count-MORL's beta goes with its estimate."""
    if name == "default":
        return algorithm()
    if algorithm is CountMORL:
        return published(CountMORL, paper_rows(estimate), data) if name == "paper" else quick()
    if name == "paper" and algorithm.published is not None:
        return published(algorithm, algorithm.published.rows, data)
    raise ConfigError(f"{algorithm.__name__} has no preset '{name}'; leave --preset away.")


AS_PUBLISHED = {
    "continued": 0.0,
    "branches": 50_000,
    "conservative.sampled": False,
    "conservative.every": 1,
    "model.learning_rate": 1e-3,
    "model.decay": False,
    "model.max_epochs": 200,
    "model.least_steps": 1,
    "sac.discount": 0.99,
    "sac.actor_rate": 1e-4,
    "sac.entropy_rate": 1e-4,
    "sac.critic_norm": False,
    "sac.normalize": False,
    "sac.average_share": 0.0,
    "sac.mean_start": False,
    "td3.discount": 0.99,
    "td3.average_share": 0.0,
    "td3.mean_start": False,
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
            f"that begin with: {', '.join(rows)}. Leave --preset away for the defaults."
        )
    config = algorithm()
    own = {name: v for name, v in AS_PUBLISHED.items() if hasattr(config, name.split(".")[0])}
    for name, value in (own | dict(rows[task])).items():
        outer, _, inner = name.partition(".")
        new = replace(getattr(config, outer), **{inner: value}) if inner else value
        config = replace(config, **{outer: new})
    return config


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
