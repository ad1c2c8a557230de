"""What guards cost and keep: how often they act, and what the guarded policy earns."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from countmorl.envs.simulators import make_env, play
from countmorl.envs.tasks import Task
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.model_value import ModelValue
from countmorl.guarding.actors import Recorded, actor_of_guard
from countmorl.guarding.thresholds import HeldOut
from countmorl.runtime.guard import Guard, GuardSettings
from countmorl.spaces import ActionSpace


@dataclass(frozen=True, kw_only=True)
class Played:
    """Episodes in the simulator."""

    returns: float
    score: float | None
    rate: float
    """Share of their steps at which the fall-back acted."""
    switches: float
    """Changes between policy and fall-back, per 100 steps."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One threshold, and what came of it."""

    name: str
    """unguarded, guarded, or the fall-back alone."""
    quantile: float | None = None
    """Share of held-out pairs that lie below the threshold."""
    threshold: float | None = None
    held_out: float | None = None
    """How often it acts on the log's own held-out pairs: false alarms."""
    at_logged: float | None = None
    """How often it acts on the policy's actions at held-out states."""
    imagined: float | None = None
    """How often it acts in imagined rollouts."""
    value: float | None = None
    """Of the guarded policy, by rollouts in the model that are cut where nothing was logged."""
    interval: tuple[float, float] | None = None
    way_cut: float | None = None
    """Share of its way that lies behind such cuts."""
    played: Played | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return asdict(self)


@dataclass(frozen=True, eq=False, kw_only=True)
class Trial:
    """Tries guards of one policy out."""

    guard: Guard
    """Whose settings are changed."""
    held: HeldOut
    space: ActionSpace
    value: ModelValue | None = None
    """Rolls out in a model, where there is one."""
    task: Task | None = None
    """Plays in its simulator, where that is wanted."""
    episodes: int = 10
    seed: int = 0

    def at(self, quantile: float) -> Point:
        """A guard whose threshold so many held-out pairs lie below."""
        settings = self.guard.settings
        found = self.held.settings(
            quantile, dwell=settings.dwell, fall_back=settings.fall_back, fixed=settings.fixed
        )
        return replace(self.with_settings(found), quantile=quantile)

    def with_settings(self, settings: GuardSettings) -> Point:
        """A guard of the same policy with other settings."""
        guard = replace(self.guard, settings=settings)
        point = Point(
            name="guarded",
            threshold=settings.threshold,
            held_out=self.held.below(settings.threshold),
            at_logged=self.held.policy_below(guard),
        )
        return self._tried(point, guard)

    def unguarded(self) -> Point:
        """The policy by itself: a guard whose threshold nothing lies below."""
        settings = replace(self.guard.settings, threshold=0.0, release=None)
        return self._tried(Point(name="unguarded"), replace(self.guard, settings=settings))

    def fall_back(self) -> Point:
        """The fall-back by itself: a guard whose threshold everything lies below."""
        settings = replace(self.guard.settings, threshold=1e30, release=None)
        return self._tried(Point(name="fall-back alone"), replace(self.guard, settings=settings))

    @property
    def acts(self) -> bool:
        """Whether there is an action at every step: nobody can play one that is abstained from."""
        settings = self.guard.settings
        held = settings.fall_back == "hold" and settings.fixed is None
        return settings.fall_back != "abstain" and not held

    def _tried(self, point: Point, guard: Guard) -> Point:
        if not self.acts and point.name != "unguarded":
            return point
        if self.value is not None:
            point = self._imagined(point, guard, self.value)
        if self.task is not None:
            point = replace(point, played=self._played(guard, self.task))
        return point

    def _imagined(self, point: Point, guard: Guard, value: ModelValue) -> Point:
        actor, recorded = actor_of_guard(guard, self.space, point.name)
        rolled = value.roll(actor)
        return replace(
            point,
            imagined=recorded().rate(rolled.asked),
            value=rolled.value,
            interval=rolled.interval(self.seed),
            way_cut=rolled.way_cut,
        )

    def _played(self, guard: Guard, task: Task) -> Played:
        recorded = Recorded(guard)
        envs = [make_env(task.env_id) for _ in range(self.episodes)]
        try:
            returns, lengths = play(recorded, envs, self.seed)
        finally:
            for env in envs:
                env.close()
        under_way = np.arange(len(recorded.fell_back))[:, None] < lengths
        mean = float(returns.mean())
        return Played(
            returns=mean,
            score=task.score(mean),
            rate=recorded.rate(under_way),
            switches=recorded.switches(under_way),
        )


def judged_actor(guard: Guard, space: ActionSpace) -> Actor:
    """A guarded policy for every evaluator of judging."""
    return actor_of_guard(guard, space, "guarded")[0]
