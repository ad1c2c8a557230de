"""Settings by name, as Python values: the paper's table, and one sized for minutes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.count_morl import CountMORL
from countmorl.counting.estimate import Kind
from countmorl.counting.fit import CodesConfig
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


def paper_row(data: str) -> PaperRow | None:
    """Find the row of a dataset by its name or its file's name; the longest match counts."""
    task = task_name(data, PAPER)
    return PAPER[task] if task else None


def preset(name: PresetName, algorithm: type[AbstractAlgorithm], data: str) -> AbstractAlgorithm:
    """Return an algorithm's settings for a dataset."""
    if name == "default":
        return algorithm()
    if algorithm is CountMORL:
        return paper(data) if name == "paper" else quick()
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
"""What the published versions of the rivals have in common, and our defaults have not."""


def published(
    algorithm: type[AbstractAlgorithm], rows: Mapping[str, Mapping[str, Any]], data: str
) -> AbstractAlgorithm:
    """A rival's published settings for one of D4RL's tasks, without our steadier choices."""
    task = task_name(data, rows)
    if task is None:
        raise ConfigError(
            f"No settings of {algorithm.__name__} are published for '{data}', only for: "
            f"{', '.join(rows)}. Leave --preset away for the defaults."
        )
    config = algorithm()
    own = {name: v for name, v in AS_PUBLISHED.items() if hasattr(config, name.split(".")[0])}
    for name, value in (own | dict(rows[task])).items():
        outer, _, inner = name.partition(".")
        new = replace(getattr(config, outer), **{inner: value}) if inner else value
        config = replace(config, **{outer: new})
    return config


def task_name(data: str, known: Iterable[str]) -> str | None:
    """Find a dataset's task by its name or its file's name; the longest match counts."""
    name = data.replace("\\", "/").split("/")[-1].lower().replace("_", "-")
    return max((key for key in known if name.startswith(key)), key=len, default=None)


def paper(data: str) -> CountMORL:
    """The paper's settings for one of its twelve tasks, with the estimate that scored best."""
    row = paper_row(data)
    if row is None:
        raise ConfigError(
            f"The paper has no settings for '{data}'. It has: {', '.join(PAPER)}. "
            "Leave --preset away for the defaults."
        )
    base = CountMORL()
    return replace(
        base,
        epochs=1000,
        horizon=row.horizon,
        beta=row.betas[row.best],
        estimate=row.best,
        branches=50_000,
        continued=0.0,
        model=replace(base.model, learning_rate=1e-3, decay=False, max_epochs=200, least_steps=1),
        codes=CodesConfig(bits=row.bits),
        sac=replace(
            base.sac,
            discount=0.99,
            entropy_rate=3e-4,
            target_entropy=-3.0,
            log_std_min=-20.0,
            actor_decay=False,
            critic_norm=False,
            normalize=False,
            average_share=0.0,
        ),
    )


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
