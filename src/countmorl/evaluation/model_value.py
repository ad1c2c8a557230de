"""The value of a policy in a learned model: rollouts to the task's end, or to the discount's.

Every elite carries its own rollouts from first to last. A rollout is cut at the first pair that
lies too far from all logged rows, and what follows is taken to be as bad as the log's worst: what a
model promises where it was never taught counts for nothing. How far is too far is told by a clone
of the log, whose own rollouts must hardly ever be cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from countmorl.data.rates import worst_rate
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate, Opinion
from countmorl.evaluation.behaviour import stretched
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure, usual_reward
from countmorl.evaluation.stepping import ROLLOUTS, Stepper
from countmorl.evaluation.support import THIN, Support
from countmorl.rollouts import PenalizedModel

DRAWS = 1000
STEPS, MOST = 40_000, 200
"""Steps of the rollouts of one elite: of short episodes there are more, up to so many."""
MOST_CUT = 0.5
"""Share of its way beyond which a policy's value is what was assumed, not what was rolled out."""
CLONE_CUT = 0.3
"""The same of the clone: a model that cannot carry it carries nobody."""
CARRIED = 0.15
"""The same of the clone, which cuts are made for where that is possible."""
STRETCHES = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
"""How far a pair may lie at the most before a rollout is cut, in what nearly all logged ones need.
Over hundreds of steps one of them always lies a little farther."""
MADE_BY = "rollouts in each elite of the model"


@dataclass(frozen=True, eq=False, kw_only=True)
class Rolled:
    """What rollouts were worth, [elites, starts], and where they went."""

    values: np.ndarray
    way_cut: float
    """Share of the way, by the weights of its steps, that lies behind a cut."""
    cut: float
    """Share of the rollouts that were cut."""
    thin: float
    """Share of the steps whose pairs have few logged neighbours."""
    length: float
    """Steps of a rollout, on average."""
    lost: float = 0.0
    """What the cuts cost, beside going on as the log does."""
    asked: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), bool))
    """Which rollouts were under way at each step, [steps, rollouts]."""

    @property
    def value(self) -> float:
        """The median over the elites of their means."""
        return _median(self.values)

    def interval(self, seed: int) -> tuple[float, float]:
        """By drawing elites and starts anew."""
        rng = np.random.default_rng(seed)
        elites, starts = self.values.shape
        draws = [
            _median(self.values[rng.integers(0, elites, elites)][:, picked])
            for picked in rng.integers(0, starts, (DRAWS, starts))
        ]
        return stretched(np.array(draws), self.value, min(elites, starts))


@dataclass(frozen=True, eq=False)
class Trace:
    """Rollouts, step by step; all tables are [steps, rollouts]."""

    asked: np.ndarray
    """Which were under way."""
    far: np.ndarray
    """How far their pairs lay from the log, 1 being as far as nearly all logged ones."""
    thin: np.ndarray
    """Which had few logged neighbours."""
    reward: np.ndarray
    ended: np.ndarray
    """Where the task ended."""
    over: np.ndarray
    """Where the log had no exogenous numbers left."""
    elites: int


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelValue:
    """Rolls policies out in one model, with the same random numbers for each."""

    model: PenalizedModel
    support: Support
    logged: Logged
    measure: Measure
    seed: int = 0
    stretch: float = 1.0
    """How far a pair may lie before its rollout is cut."""
    noise: float = 1.0
    """How much of the spread that the model foretells is drawn."""

    def carrying(self, clone: Actor, log: float) -> tuple[ModelValue, Rolled]:
        """The rollouts in which a clone is worth most nearly what its log earned.

        With the noise that the model foretells, or by its means alone: on a log of a machine most
        of that noise is the model's own error, and drawn anew at every step it throws over what
        stands. Cuts are as far out as the clone needs.
        """
        found = []
        for noise in (1.0, 0.0):
            widest = replace(self, noise=noise, stretch=STRETCHES[-1])
            trace = widest.trace(clone)
            values = [replace(widest, stretch=stretch) for stretch in STRETCHES]
            tried = [(value, value.worth(trace)) for value in values]
            carried = (each for each in tried if each[1].way_cut <= CARRIED)
            found.append(next(carried, tried[-1]))
        return min(found, key=lambda each: abs(each[1].value + max(0.0, each[1].lost) - log))

    def __call__(self, actor: Actor, clone: Rolled, log: Estimate) -> Opinion:
        """Judge a policy beside a clone of the log, rolled out alike."""
        rolled = self.roll(actor)
        facts = {
            "way_cut": rolled.way_cut,
            "cut": rolled.cut,
            "thin": rolled.thin,
            "length": rolled.length,
            "clone": clone.value,
            "clone_way_cut": clone.way_cut,
            "stretch": self.stretch,
            "noise": self.noise,
        }
        low, high = rolled.interval(self.seed)
        each = np.quantile(rolled.values, 0.1)
        estimate = Estimate(
            value=rolled.value,
            interval=(low, high),
            unit=self.measure.unit,
            made_by=f"{rolled.values.size} {MADE_BY}",
            facts=facts | {"lower": float(each)} | self._gain(rolled, clone, log),
        )
        if clone.way_cut > CLONE_CUT:
            return estimate.refused(
                f"even a clone of the log leaves what is known in {clone.way_cut:.0%} of its way: "
                "the model is not good enough to judge by."
            )
        if rolled.way_cut > MOST_CUT:
            return estimate.refused(
                f"{rolled.way_cut:.0%} of its way lies behind pairs that were never logged."
            )
        return estimate

    def _gain(self, rolled: Rolled, clone: Rolled, log: Estimate) -> dict[str, float]:
        """How much more it is than the log, which it must be beside the log and beside its clone.

        Rollouts begin where the clone's did, in the same elites with the same random numbers, so
        that nothing is called better where the model flatters both; and where logged episodes
        began, each beside what that episode earned, where that tells more than the log's mean.
        What a cut has cost was assumed, so it cannot show that a policy is worse.
        """
        beside_log = _Apart.of(rolled, np.array(log.value), self.seed, log)
        if not self.logged.streams:
            paired = _Apart.of(rolled, self.earned, self.seed)
            beside_log = min(beside_log, paired, key=lambda each: each.high - each.low)
        beside_clone = _Apart.of(rolled, clone.values, self.seed)
        return {
            "gain": min(beside_log.value, beside_clone.value),
            "gain_low": min(beside_log.low, beside_clone.low),
            "gain_high": beside_log.high + max(0.0, rolled.lost),
        }

    @cached_property
    def earned(self) -> np.ndarray:
        """What the episodes earned that rollouts begin in, [starts]."""
        rows = self._stepper.rows
        rows = rows[: len(rows) // self._stepper.elites]
        return self.measure.earned(self.logged.dataset).values[self.logged.group(rows)]

    @property
    def _stepper(self) -> Stepper:
        return Stepper(
            model=self.model,
            logged=self.logged,
            seed=self.seed,
            noise=self.noise,
            most=min(MOST, max(ROLLOUTS, STEPS // self.measure.steps)),
        )

    def roll(self, actor: Actor) -> Rolled:
        """Roll a policy out, and say what that was worth."""
        return self.worth(self.trace(actor))

    def trace(self, actor: Actor) -> Trace:
        """Roll a policy out, step by step: it may be code of any kind."""
        data = self.logged.dataset
        stepper = self._stepper
        obs, actor = data.obs[stepper.rows], actor.begun()
        alive, steps = np.ones(len(obs), bool), []
        for at in range(self.measure.steps):
            action, asked = actor(obs), alive
            far, count = np.zeros(len(obs)), np.zeros(len(obs), int)
            count[asked], far[asked] = self.support.look(obs[asked], action[asked])
            following, reward, ends = stepper.step(obs, action, at)
            far[~(np.isfinite(following).all(axis=1) & np.isfinite(reward)) & asked] = np.inf
            alive = asked & (far <= self.stretch)
            over = alive & ~ends & stepper.over(at + 1)
            steps.append((asked, far, count < THIN, reward, alive & ends, over))
            alive = alive & ~ends & ~over
            obs = np.where(alive[:, None], following, obs)
            if not alive.any():
                break
        return Trace(*map(np.stack, zip(*steps, strict=True)), elites=stepper.elites)

    def worth(self, trace: Trace) -> Rolled:
        """What rollouts are worth, cut where they first lie farther out than `stretch`."""
        data, measure = self.logged.dataset, self.measure
        worst, usual = worst_rate(data), usual_reward(data, measure)
        low, high = float(data.reward.min()), float(data.reward.max())
        beyond = trace.far > self.stretch
        cut = beyond.any(axis=0)
        cut_at = np.where(cut, beyond.argmax(axis=0), len(beyond))
        at = np.arange(len(beyond))[:, None]
        asked, done = trace.asked & (at <= cut_at), trace.asked & (at < cut_at)
        weights = measure.weights[: len(at), None]
        paid = np.where(done, np.clip(trace.reward, low, high), 0.0)
        value = (weights * paid).sum(axis=0)
        over, ended = (done & trace.over).any(axis=0), (done & trace.ended).any(axis=0)
        after = np.where(over, measure.rest(done.sum(axis=0)), 0.0)
        after = np.where(~(over | ended | cut), measure.rest(measure.steps), after)
        behind = np.where(cut, measure.rest(cut_at), 0.0)
        assumed = np.where(cut, np.minimum(worst * behind, self._can_end), 0.0)
        return Rolled(
            values=(value + usual * after + assumed).reshape(trace.elites, -1),
            way_cut=float(behind.mean() / measure.rest(0)),
            cut=float(cut.mean()),
            thin=float(trace.thin[asked].mean()),
            length=float(asked.sum(axis=0).mean()),
            lost=float((behind * usual - assumed).mean()),
            asked=asked,
        )

    @property
    def _can_end(self) -> float:
        """Where tasks can end, nothing more may follow."""
        return 0.0 if self.logged.dataset.terminated.any() else np.inf


def _median(values: np.ndarray) -> float:
    return float(np.median(values.mean(axis=1)))


@dataclass(frozen=True)
class _Apart:
    """How much more rollouts are worth than something else, start by start."""

    value: float
    low: float
    high: float

    @classmethod
    def of(
        cls, rolled: Rolled, other: np.ndarray, seed: int, unsure: Estimate | None = None
    ) -> _Apart:
        """`unsure` is an estimate that the other is the value of, which may lie elsewhere."""
        apart = replace(rolled, values=rolled.values - other)
        (low, high), value, below, above = apart.interval(seed), apart.value, 0.0, 0.0
        if unsure is not None and unsure.interval is not None:
            below, above = unsure.interval[1] - unsure.value, unsure.value - unsure.interval[0]
        down, up = np.hypot(value - low, below), np.hypot(high - value, above)
        return cls(value, value - float(down), value + float(up))
