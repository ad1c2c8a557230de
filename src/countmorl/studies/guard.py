"""Do guards keep what their fall-back earns? Policies that left their data, simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.configs import at_least, check_types
from countmorl.coverage.density import SHARE, neighbours_of
from countmorl.data.dataset import Dataset
from countmorl.data.holdout import Parts, draw_holdout, split
from countmorl.data.sources import load
from countmorl.envs.tasks import find_task
from countmorl.errors import ConfigError, RunError
from countmorl.evaluation.clone import cloned
from countmorl.evaluation.parts import dataset_of
from countmorl.guarding.choose import DWELL
from countmorl.guarding.curve import Point, Trial
from countmorl.guarding.thresholds import QUANTILES, HeldOut
from countmorl.runs.folder import Run
from countmorl.runtime.base import PolicyLike
from countmorl.runtime.counts import Counts
from countmorl.runtime.guard import Counter, Guard
from countmorl.runtime.levels import CountsPairs
from countmorl.runtime.load import load_policy
from countmorl.spaces import ActionSpace

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class GuardStudy:
    """What is tried."""

    quantiles: tuple[float, ...] = QUANTILES
    """Thresholds: shares of held-out pairs below them."""
    counts: tuple[Counter, ...] = ("codes", "neighbours")
    """What counts: a run's codes, distances to logged rows."""
    dwell: int = DWELL
    """Steps that a fall-back lasts at least."""
    episodes: int = 5
    """Episodes of play."""
    clone_updates: int = 5_000
    """Gradient steps of the clone that is fallen back to."""
    noise: float = 0.5
    """Deviation of the noise that spoils the clone, or the share of its discrete actions."""
    seed: int = 0
    """Seed of all that is drawn."""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, dwell=1, episodes=1, clone_updates=1, noise=0)
        if not self.quantiles or not all(0 < each < 1 for each in self.quantiles):
            raise ConfigError("`quantiles` must lie above 0 and below 1.")


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One policy under one kind of counts."""

    data: str
    policy: str
    counts: Counter
    points: tuple[Point, ...]
    """Unguarded, the thresholds from low to high, the fall-back alone."""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return {**asdict(self), "points": [point.as_dict() for point in self.points]}


@dataclass(frozen=True, eq=False, kw_only=True)
class Spoilt:
    """A policy whose actions are spoilt by noise; without a policy, chance alone."""

    space: ActionSpace
    size: int
    noise: float
    policy: PolicyLike | None
    rng: np.random.Generator

    @property
    def obs_dim(self) -> int:
        """Numbers in one observation."""
        return self.size

    @property
    def action_dim(self) -> int:
        """Numbers in one action; how many actions there are where they are discrete."""
        return self.space.size

    @property
    def discrete(self) -> bool:
        """Whether actions are numbers."""
        return self.space.discrete

    def act(self, obs: np.ndarray, *, rng: np.random.Generator | None = None) -> Any:
        """Draw what the noise makes of the policy's actions for [n, obs]."""
        rows = len(obs)
        chance = np.array([self.space.draw(self.rng) for _ in range(rows)])
        if self.policy is None:
            return chance
        known = np.asarray(self.policy.act(obs))
        if self.discrete:
            return np.where(self.rng.random(rows) < self.noise, chance, known)
        reach = (self.space.high - self.space.low) / 2
        moved = known + self.noise * reach * self.rng.standard_normal(known.shape)
        return np.clip(moved, self.space.low, self.space.high).astype(np.float32)


def guard_study(
    runs: Sequence[Run],
    config: GuardStudy,
    *,
    data: str | None = None,
    task: str | None = None,
    policies: Sequence[Path] = (),
    say: Say = lambda _: None,
) -> list[Tried]:
    """Guard the policies of runs on one log, other policies' files, a spoilt clone and chance."""
    taught, judged = _parts(runs, data, task, config.seed)
    dataset = taught
    game = find_task(task) if task else dataset.task
    if game is None or not game.available():
        raise ConfigError(f"'{dataset.name}' has no task that can be simulated; give one: --task.")
    clone = cloned(taught, updates=config.clone_updates, seed=config.seed)
    found: list[Tried] = []
    alone: dict[str, Point] = {}
    back: Point | None = None
    actors = _actors(runs, policies, dataset, clone, config)
    for kind, counts in _counts(runs, config, taught, judged):
        held = HeldOut.of(taught if judged is None else judged, counts)
        for name, policy in actors.items():
            say(f"{dataset.name}: {name}, counted by {kind}")
            settings = held.settings(0.05, dwell=config.dwell, fall_back="clone", counts=kind)
            guard = Guard(policy=policy, counts=counts, settings=settings, clone=clone)
            trial = Trial(
                guard=guard,
                held=held,
                space=dataset.space,
                task=game,
                episodes=config.episodes,
                seed=config.seed,
            )
            # Neither depends on what counts, nor the fall-back on the policy.
            alone[name] = alone[name] if name in alone else trial.unguarded()
            back = back or trial.fall_back()
            points = [alone[name], *map(trial.at, sorted(config.quantiles)), back]
            found.append(Tried(data=dataset.name, policy=name, counts=kind, points=tuple(points)))
    return found


def _parts(runs: Sequence[Run], data: str | None, task: str | None, seed: int) -> Parts:
    """What the runs learned from and what they set aside; of data alone, a tenth is set aside."""
    if runs:
        origin = runs[0].manifest.data
        dataset = dataset_of(runs[0], data=data, task=task)
        return split(dataset, origin.holdout if origin else None)
    if data is None:
        raise ConfigError("Name at least one run, or the log that others left: --data.")
    dataset = load(data, task=task)
    return split(dataset, draw_holdout(dataset, SHARE, seed))


def _actors(
    runs: Sequence[Run],
    policies: Sequence[Path],
    dataset: Dataset,
    clone: PolicyLike,
    config: GuardStudy,
) -> dict[str, PolicyLike]:
    found: dict[str, PolicyLike] = {run.path.name: load_policy(run.path) for run in runs}
    found |= {path.stem: load_policy(path) for path in policies}
    for name, policy, noise in (
        (f"clone + {config.noise:g}", clone, config.noise),
        ("chance", None, 0),
    ):
        found[name] = Spoilt(
            space=dataset.space,
            size=dataset.obs_dim,
            noise=noise,
            policy=policy,
            rng=np.random.default_rng(config.seed),
        )
    return found


def _counts(
    runs: Sequence[Run], config: GuardStudy, taught: Dataset, judged: Dataset | None
) -> list[tuple[Counter, CountsPairs]]:
    found: list[tuple[Counter, CountsPairs]] = []
    if "codes" in config.counts:
        counting = [run for run in runs if run.result_path("counter").exists()]
        if not counting:
            raise RunError("None of the runs counts by codes; give one of count-morl.")
        found.append(("codes", Counts.of_run(counting[0].path)))
    if "neighbours" in config.counts:
        found.append(("neighbours", neighbours_of(taught, judged, seed=config.seed)))
    return found
