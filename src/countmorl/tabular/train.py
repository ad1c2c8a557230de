"""`countmorl train tabular`: from a log of whole numbers to a plan and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from countmorl.configs import check_types, from_json, to_json
from countmorl.data.dataset import Dataset
from countmorl.errors import ConfigError
from countmorl.runs.folder import METRICS, Run
from countmorl.runs.manifest import DataOrigin, Manifest
from countmorl.runs.options import DataOptions
from countmorl.runtime.tabular import TabularPolicy
from countmorl.tabular.certificate import Assumptions, certificate, pair_errors
from countmorl.tabular.conservative import count_penalty, lowered
from countmorl.tabular.data import TabularData
from countmorl.tabular.estimate import maximum_likelihood
from countmorl.tabular.mdp import TabularMDP, check_gamma
from countmorl.tabular.planning import plan_floored, policy_iteration, start_value

NAME = "tabular"
STAGE = "plan"
"""The one stage of a tabular run."""


@dataclass(frozen=True, kw_only=True)
class Tabular:
    """Tabular Count-MORL: exact counts, an exact plan, and a certificate."""

    penalty: Literal["beta", "theory", "none"] = "beta"
    """beta: beta / sqrt(n). theory: what the guarantee asks for, floored at the least possible
    value. none: trust the model everywhere."""
    beta: float = 0.1
    """Weight of the penalty (the paper's beta)."""
    gamma: float = 0.95
    """Discount factor."""
    delta: float = 0.05
    """The certificate holds with probability 1 - delta."""
    states: int | None = None
    """Number of states; default: the highest number in the log, plus one."""
    actions: int | None = None
    """Number of actions; default: as the log says, else the highest number in it, plus one."""

    def __post_init__(self) -> None:
        check_types(self)
        check_gamma(self.gamma)
        if not 0 < self.delta < 1:
            raise ConfigError(f"`delta` must be above 0 and below 1, got {self.delta:g}.")
        for name in ("states", "actions"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ConfigError(f"`{name}` must be at least 1, got {number}.")
        if not self.beta >= 0:
            raise ConfigError(f"`beta` must be at least 0, got {self.beta:g}.")


@dataclass(frozen=True, kw_only=True)
class TabularSettings:
    """Everything a tabular run restarts from, beside its data."""

    plan: Tabular
    assume: Assumptions


def train_tabular(
    dataset: Dataset,
    *,
    config: Tabular | None = None,
    assume: Assumptions | None = None,
    out: str | Path | None = None,
    source: str | None = None,
    options: DataOptions | None = None,
) -> Run:
    """Plan on a log of a finite world; return the run, whose metrics hold value and certificate.

    `source` and `options` say where the log came from and how it was read.
    """
    settings = TabularSettings(plan=config or Tabular(), assume=assume or Assumptions())
    policy, results = _solved(dataset, settings)
    log_return, log_score = dataset.earned
    manifest = Manifest(
        algorithm=NAME,
        config=to_json(settings),
        data=DataOrigin(
            source=source,
            name=dataset.name,
            hash=dataset.hash,
            schema=dataset.schema,
            options=options or DataOptions(holdout_episodes=0),
            log_return=log_return,
            log_score=log_score,
        ),
    )
    with Run.begin(out or Path("runs") / f"{NAME}-{dataset.name}", manifest) as run:
        return _finish(run, policy, results)


def resume_tabular(run: Run, dataset: Dataset) -> Run:
    """Plan again where a run was stopped before its end; a finished one is left as it is.

    The caller holds the run's lock.
    """
    if run.finished:
        return run
    settings = from_json(TabularSettings, run.manifest.config)
    return _finish(run, *_solved(dataset, settings))


def _solved(dataset: Dataset, settings: TabularSettings) -> tuple[TabularPolicy, dict[str, Any]]:
    config = settings.plan
    data = TabularData.of(dataset, states=config.states, actions=config.actions)
    chances, results = solve(data, config, settings.assume)
    info = {
        "algorithm": NAME,
        "dataset": dataset.name,
        "task": dataset.task.env_id if dataset.task else None,
        "countmorl": version("countmorl"),
    }
    shown = slice(0, data.given_states)  # Twins are ends; nothing is done there.
    policy = TabularPolicy(probabilities=chances[shown], counts=data.counts[shown], info=info)
    return policy, {"rows": len(dataset), **results}


def _finish(run: Run, policy: TabularPolicy, results: dict[str, Any]) -> Run:
    run.rewind(0)
    run.append(METRICS, {"stage": STAGE, "epoch": 1, **results})
    policy.save(run.policy_path)
    run.save_result(STAGE, {"probabilities": policy.probabilities})
    return run


def solve(
    data: TabularData, config: Tabular, assume: Assumptions
) -> tuple[np.ndarray, dict[str, Any]]:
    """Plan, and value the plan: in the model, under the penalty, and for certain."""
    model = maximum_likelihood(data, gamma=config.gamma)
    careful, policy = _plan(model, data, config, assume)
    behaviour = data.behaviour
    constants = {"delta": config.delta, "gamma": config.gamma, "assume": assume}
    sure = certificate(data, policy, **constants)
    live = ~data.terminal[: data.given_states]
    counts = data.counts[: data.given_states][live]
    return policy, {
        "states": data.given_states,
        "actions": data.actions,
        "pairs_seen": int((counts > 0).sum()),
        "pairs_live": int(counts.size),
        "value_model": start_value(model, policy),
        "value_penalized": start_value(careful, policy),
        "value_behaviour": start_value(model, behaviour),
        "certified": sure.lower,
        "certified_behaviour": certificate(data, behaviour, **constants).lower,
        "confidence": sure.confidence,
        "least_value": sure.least,
        "mean_error": sure.mean_error,
    }


def _plan(
    model: TabularMDP, data: TabularData, config: Tabular, assume: Assumptions
) -> tuple[TabularMDP, np.ndarray]:
    if config.penalty == "theory":
        error = pair_errors(data, delta=config.delta, assume=assume)
        careful = lowered(model, assume.factor(data, config.gamma) * error)
        return careful, plan_floored(careful, assume.values(data, config.gamma)[0]).policy
    beta = config.beta if config.penalty == "beta" else 0.0
    careful = lowered(model, count_penalty(data.counts, beta=beta))
    return careful, policy_iteration(careful).policy
