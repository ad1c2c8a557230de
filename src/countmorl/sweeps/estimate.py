"""How long a plan would take here, before anything starts."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

from countmorl.algorithms.model_alone import AbstractAlone, CodesAlone
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.configs import to_json
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.sweeps.facts import DataFacts, Sources
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.rows import Row, short_hash
from countmorl.sweeps.trials import Cost, measure_apart

IMPORTS = 4.0
"""Seconds in which a worker starts and reads its data, beside compiling."""
BALANCED = 1.7
"""What a second model of RepB-SDE costs, in first ones (lab/results.md)."""
SIZES = ("batch", "hidden", "sac", "td3", "model")
"""Settings that decide how long one update takes."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Seconds of one core for each row, and of the wall for all."""

    seconds: Mapping[str, float]
    wall: float

    @property
    def total(self) -> float:
        """Seconds of one core for the whole plan."""
        return sum(self.seconds.values())


def estimate(plan: Sweep, facts: Sources, workers: int) -> Estimate:
    """Time every method for seconds, and multiply.

    Models are taken to need all their epochs, though they stop early where they no longer improve;
    episodes are taken to last to their end.
    """
    largest: dict[str, tuple[Row, DataFacts]] = {}
    for row in plan.trained:
        own = facts[row.data, row.data_options]
        before = largest.get(kind(row))
        if before is None or own.obs_dim > before[1].obs_dim:
            largest[kind(row)] = (row, own)
    envs = sorted({each.env_id for each in facts.values() if each.env_id})
    costs, steps = measure_apart(list(largest.values()), envs)
    by_kind = dict(zip(largest, costs, strict=True))
    shared = _shared_costs(plan, by_kind)
    seconds = {
        row.name: row_seconds(row, facts[row.data, row.data_options], shared[row.name], steps)
        for row in plan.rows
    }
    return Estimate(seconds=seconds, wall=wall_seconds(plan, seconds, workers))


def kind(row: Row) -> str:
    """Rows whose updates take as long have the same."""
    settings = to_json(row.config)
    return f"{row.algorithm} {short_hash({k: settings[k] for k in SIZES if k in settings})}"


def _shared_costs(plan: Sweep, by_kind: Mapping[str, Cost]) -> dict[str, Cost]:
    """The cost of every row; a model costs what it costs the method that uses it."""
    found = {row.name: by_kind[kind(row)] for row in plan.trained}
    for row in reversed(plan.rows):
        if row.model is not None:
            found.setdefault(row.model, found[row.name])
    return found


def row_seconds(row: Row, facts: DataFacts, cost: Cost, steps: Mapping[str, float]) -> float:
    """Seconds of one core for a row."""
    config, whole = row.config, IMPORTS + cost.start
    if isinstance(config, CodesAlone):
        return whole + config.codes.fit_epochs * config.codes.fit_updates * cost.codes_update
    if isinstance(config, AbstractAlone):
        return whole + _model_seconds(config.model, facts, cost)
    whole += _judging(row, facts, steps)
    if not isinstance(config, AbstractModelBased):
        return whole + config.epochs * config.updates * cost.update
    epochs = sum(config.policy_epochs(number) for number in range(config.rounds))
    each = config.updates * cost.update + config.begun * config.horizon * cost.imagined
    again = (config.rounds - 1) * BALANCED * _model_seconds(config.model, facts, cost)
    return whole + epochs * each + again


def _model_seconds(model: EnsembleConfig, facts: DataFacts, cost: Cost) -> float:
    return model.max_epochs * model.steps(facts.rows) * cost.model_step


def _judging(row: Row, facts: DataFacts, steps: Mapping[str, float]) -> float:
    every = row.options.eval_every
    if not every or facts.env_id is None or not row.options.simulate:
        return 0.0
    times = row.config.epochs // every + (row.config.epochs % every > 0)
    return times * row.options.eval_episodes * facts.horizon * steps[facts.env_id]


def wall_seconds(plan: Sweep, seconds: Mapping[str, float], workers: int) -> float:
    """How long it takes if a free worker always takes the next row that may start."""
    waiting, running, now = list(plan.rows), [], 0.0
    left = set(seconds)
    while waiting or running:
        for row in list(waiting):
            if len(running) == workers:
                break
            if row.model not in left:
                heapq.heappush(running, (now + seconds[row.name], row.name))
                waiting.remove(row)
        now, ended = heapq.heappop(running)
        left.remove(ended)
    return now
