"""Choosing the guard of a run: thresholds tried in its model, one taken, its price said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from countmorl.configs import at_least, check_types, to_json
from countmorl.coverage.density import neighbours_of
from countmorl.data.holdout import split
from countmorl.data.sources import Source
from countmorl.errors import ConfigError
from countmorl.evaluation.bench import Bench, BenchConfig
from countmorl.evaluation.judging import actor_of, bench_of
from countmorl.evaluation.verdict import Judgement
from countmorl.files import write_text
from countmorl.guarding.curve import Point, Trial, judged_actor
from countmorl.guarding.thresholds import QUANTILES, HeldOut
from countmorl.runs.folder import Run
from countmorl.runtime.counts import Counts
from countmorl.runtime.guard import (
    FOLDER,
    Counter,
    FallBack,
    Guard,
    GuardSettings,
    policy_digest,
)
from countmorl.runtime.levels import CountsPairs
from countmorl.runtime.load import load_policy

CURVE_FILE = "curve.json"
QUANTILE = 0.1
DWELL = 1_000
"""Long enough for the rest of an episode: policies that were let act again lost what was kept."""
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class GuardConfig:
    """What guard is wanted."""

    quantile: float = QUANTILE
    """Share of the log's own held-out pairs that lie below the threshold: false alarms."""
    threshold: float | None = None
    """The threshold itself, in place of a quantile."""
    dwell: int = DWELL
    """Steps that a fall-back lasts at least."""
    fall_back: FallBack = "clone"
    """Who acts below the threshold: a clone of whoever logged the data; the fixed action; the last
    action that was taken (hold); or nobody (abstain)."""
    fixed: tuple[float, ...] | None = None
    """The fixed action, in the log's numbers; of discrete actions, one number."""
    counts: Counter = "neighbours"
    """What counts: codes (the run's own) or neighbours (distances to logged rows)."""
    clone_updates: int = 5_000
    """Gradient steps of the clone."""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, dwell=1, clone_updates=1)
        if not 0 < self.quantile < 1:
            raise ConfigError(f"`quantile` must be above 0 and below 1, got {self.quantile:g}.")
        if self.threshold is not None:
            at_least(self, threshold=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Chosen:
    """A guard and what it costs."""

    guard: Guard
    points: tuple[Point, ...]
    """Unguarded, thresholds from low to high, and the fall-back alone."""
    point: Point
    """What was chosen."""
    judgements: dict[str, Judgement] = field(default_factory=dict)
    """What judging says of the policy without and with its guard; none where it was not asked."""
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return {
            "settings": to_json(self.guard.settings),
            "chosen": self.point.as_dict(),
            "points": [point.as_dict() for point in self.points],
            "judgements": {name: each.as_dict() for name, each in self.judgements.items()},
            "notes": list(self.notes),
        }


def choose_guard(
    run: Run,
    config: GuardConfig | None = None,
    *,
    data: Source | None = None,
    judged: bool = True,
    bench: BenchConfig | None = None,
    simulate: bool = False,
    episodes: int = 10,
    seed: int = 0,
    say: Say = lambda _: None,
) -> Chosen:
    """Try thresholds on a run's policy, take the one that was asked for, write it into the run.

    `judged` asks every estimator of judging about the policy without and with the guard;
    `simulate` plays in the task's simulator, which nothing here decides by.
    """
    config, sizes = config or GuardConfig(), bench or BenchConfig()
    sizes = replace(sizes, critics=judged, clone_updates=config.clone_updates)
    judge = bench_of([run], data=data, config=sizes, seed=seed, say=say)
    say("counting held-out pairs")
    guard, held, notes = _untuned(run, judge, config)
    task = judge.dataset.task if simulate else None
    if simulate and (task is None or not task.available()):
        raise ConfigError(
            f"'{judge.dataset.name}' has no task that can be simulated here; leave --simulate out."
        )
    trial = Trial(
        guard=guard,
        held=held,
        space=judge.dataset.space,
        value=judge.model_value,
        task=task,
        episodes=episodes,
        seed=seed,
    )
    points, chosen, settings = _points(trial, config, say)
    guard = replace(guard, settings=settings)
    found = {}
    if judged and trial.acts:
        say("judging the policy without and with its guard")
        found["unguarded"] = judge.judge(actor_of(run, judge), run)
        found["guarded"] = judge.judge(judged_actor(guard, judge.dataset.space))
    result = Chosen(guard=guard, points=tuple(points), point=chosen, judgements=found, notes=notes)
    guard.save(run.path)
    _write(run.path, result)
    return result


def _points(
    trial: Trial, config: GuardConfig, say: Say
) -> tuple[tuple[Point, ...], Point, GuardSettings]:
    """Every point of the curve, the one that was asked for, and its settings."""
    points = []
    for quantile in sorted({*QUANTILES, config.quantile}):
        say(f"guarding below the {quantile:.0%} quantile")
        points.append(trial.at(quantile))
    chosen = next(point for point in points if point.quantile == config.quantile)
    settings = trial.held.settings(config.quantile, **_asked(config))
    if config.threshold is not None:
        settings = GuardSettings(threshold=config.threshold, **_asked(config))
        chosen = trial.with_settings(settings)
        points.append(chosen)
    points.sort(key=lambda point: point.threshold or 0.0)
    say("the policy without a guard, and its fall-back alone")
    return (trial.unguarded(), *points, trial.fall_back()), chosen, settings


def counts_of(run: Run, kind: Counter, bench: Bench) -> CountsPairs:
    """What counts pairs for a run's guard."""
    if kind == "codes":
        return Counts.of_run(run.path)
    origin = run.manifest.data
    taught, judged = split(bench.dataset, origin.holdout if origin else None)
    return neighbours_of(taught, judged, seed=bench.seed)


def _untuned(run: Run, bench: Bench, config: GuardConfig) -> tuple[Guard, HeldOut, tuple[str, ...]]:
    counts = counts_of(run, config.counts, bench)
    origin = run.manifest.data
    taught, judged = split(bench.dataset, origin.holdout if origin else None)
    notes = bench.notes
    if judged is None:
        notes = (*notes, "thresholds come from counted rows, which count themselves: too high")
    held = HeldOut.of(taught if judged is None else judged, counts)
    settings = held.settings(config.quantile, **_asked(config))
    clone = bench.clone if config.fall_back == "clone" else None
    guard = Guard(policy=load_policy(run.path), counts=counts, settings=settings, clone=clone)
    return guard, held, notes


def _asked(config: GuardConfig) -> dict[str, Any]:
    return {
        "dwell": config.dwell,
        "fall_back": config.fall_back,
        "fixed": config.fixed,
        "counts": config.counts,
    }


def _write(run: Path, chosen: Chosen) -> None:
    values = chosen.as_dict() | {"policy": policy_digest(run)}
    write_text(run / FOLDER / CURVE_FILE, json.dumps(values, indent=2) + "\n")
