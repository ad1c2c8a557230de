"""`Bench`: what all policies of one log are judged by, made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.holdout import draw_holdout, split
from countmorl.dynamics.fit import EnsembleConfig, EnsembleFit
from countmorl.dynamics.layout import Layout
from countmorl.errors import DataError
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate, Opinion, Refusal
from countmorl.evaluation.behaviour import behaviour
from countmorl.evaluation.clone import cloned
from countmorl.evaluation.fqe import LONGEST, Fitted, FQEConfig, fit_q, interval
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.lowered import lowered_value
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.model_value import CLONE_CUT, ModelValue, Rolled
from countmorl.evaluation.parts import learned_termination
from countmorl.evaluation.propensity import Propensities, fault_of, propensities
from countmorl.evaluation.stepping import ROLLOUTS
from countmorl.evaluation.support import THIN, Support
from countmorl.evaluation.verdict import Judgement, Way, decide
from countmorl.evaluation.weighting import weighting
from countmorl.fitting import run_fit
from countmorl.pessimism import NoPessimism
from countmorl.rollouts import PenalizedModel
from countmorl.runs.folder import Run
from countmorl.runs.options import Holdout
from countmorl.runtime.policy import Policy

ENOUGH_EPISODES, ENOUGH_ROWS = 10, 2_000
"""What must be set aside for critics to be fitted on it alone."""
ENOUGH_STARTS = ROLLOUTS
"""Episodes that must be set aside for rollouts to begin in them alone: of fewer starts a mean tells
little, and where an episode began is nothing that a policy could have learned by heart."""
SAMPLE = 2_000
"""Logged states at which a policy's own actions are looked at."""
PUT_TO = 0.1
"""Share of the episodes that a clone's chances are held against where nothing was set aside."""
OFF = 0.1
"""Share of a policy's actions at logged states beyond which critics only extrapolate."""
MISSES = 0.15
"""How far the critics' value of the log may be from what it earned, as a share of that."""


@dataclass(frozen=True, kw_only=True)
class BenchConfig:
    """How much is computed."""

    clone_updates: int = 5000
    """Gradient steps of the clone of the log."""
    critics: bool = True
    """Whether critics are fitted to the log; without them rollouts alone judge."""
    fqe: FQEConfig = field(default_factory=FQEConfig)
    model: EnsembleConfig = field(default_factory=EnsembleConfig)
    """The model that is fitted where no run has one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Bench:
    """Judges policies of one log."""

    dataset: Dataset
    taught: Dataset
    measure: Measure
    seed: int
    config: BenchConfig
    log: Opinion
    """What the log earned."""
    rows: Logged
    """What critics are fitted on."""
    starts: Logged
    """Where rollouts begin."""
    support: Support
    clone: Policy
    likely: Propensities | None
    """How likely logged actions were; None of vectors."""
    log_fit: Fitted | None
    """Critics of the log's own next actions."""
    model_value: ModelValue
    clone_rolled: Rolled
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        holdout: Holdout | None,
        model: PenalizedModel | None,
        measure: Measure,
        *,
        config: BenchConfig | None = None,
        seed: int = 0,
        say: Callable[[str], None] = lambda _: None,
    ) -> Bench:
        """Fit what no policy changes: the clone, the radius, critics of the log, a model."""
        config = config or BenchConfig()
        taught, judged = split(dataset, holdout)
        if not dataset.next_known.any():
            raise DataError(f"'{dataset.name}' has no row whose next observation is known.")
        rows, starts, notes = judging_rows(dataset, judged)
        say("cloning the log's behaviour")
        clone = cloned(taught, updates=config.clone_updates, seed=seed)
        likely = None
        if dataset.discrete:
            fault = _fault(clone, dataset, judged, config.clone_updates, seed)
            likely = propensities(rows.dataset, clone, fault)
        actor = Actor(name="clone", act=clone.act, space=dataset.space)
        if model is None:
            say("fitting a model to roll out in")
            fit = EnsembleFit.of(taught, config.model, seed=seed)
            ends = learned_termination(taught, seed)
            model = PenalizedModel(run_fit(fit, seed=seed), NoPessimism(), ends, Layout.of(taught))
        support = Support.of(taught, judged, seed=seed)
        value = ModelValue(model=model, support=support, logged=starts, measure=measure, seed=seed)
        say("rolling the clone out")
        log = behaviour(dataset, measure, seed=seed)
        value, rolled = value.carrying(actor, log.value if isinstance(log, Estimate) else 0.0)
        log_fit = None
        if config.critics and (measure.horizon is None or measure.horizon <= LONGEST):
            say("fitting critics of the log")
            done = rows.actions[rows.starts]
            log_fit = fit_q(
                rows, rows.next_actions(actor), done, measure, config=config.fqe, seed=seed
            )
        return cls(
            dataset=dataset,
            taught=taught,
            measure=measure,
            seed=seed,
            config=config,
            log=log,
            rows=rows,
            starts=starts,
            support=support,
            clone=clone,
            likely=likely,
            log_fit=log_fit,
            model_value=value,
            clone_rolled=rolled,
            notes=notes,
        )

    def judge(self, actor: Actor, run: Run | None = None) -> Judgement:
        """Ask every evaluator, then decide."""
        off, thin = self._off(actor)
        opinions: dict[str, Opinion] = {}
        way = Way(unseen=off, thin=thin)
        if isinstance(self.log, Estimate):
            fitted = self._fit(actor)
            opinions["fitted Q"] = self._fitted_q(fitted, off)
            opinions["model"] = self.model_value(actor, self.clone_rolled, self.log)
            opinions |= self._weighting(actor, fitted)
            if run is not None:
                opinions["own critics"] = lowered_value(
                    run, self.taught, self.starts, actor, self.measure, seed=self.seed
                )
            facts = opinions["model"].facts
            # A model that cannot even carry a clone of the log tells nothing of a policy's way.
            if facts["clone_way_cut"] <= CLONE_CUT:
                way = Way(unseen=max(off, facts["way_cut"]), thin=max(thin, facts["thin"]))
        rewards = self.dataset.reward
        alike = bool((rewards == rewards[0]).all() and not self.dataset.terminated.any())
        notes = (*self.notes, *(self.likely.notes if self.likely else ()))
        return decide(actor.name, self.log, opinions, way, alike=alike, notes=notes)

    def _off(self, actor: Actor) -> tuple[float, float]:
        """Shares of the policy's actions at logged states that are unseen, and thin."""
        obs = self.rows.dataset.obs
        pick = np.random.default_rng(self.seed).permutation(len(obs))[:SAMPLE]
        counts = self.support.counts(obs[pick], actor(obs[pick]))
        return float((counts == 0).mean()), float((counts < THIN).mean())

    def _fit(self, actor: Actor) -> Fitted | None:
        if self.log_fit is None:
            return None
        data = self.rows.dataset
        starts = actor(data.obs[self.rows.starts])
        ahead = actor(data.next_obs)
        return fit_q(self.rows, ahead, starts, self.measure, config=self.config.fqe, seed=self.seed)

    def _fitted_q(self, fitted: Fitted | None, off: float) -> Opinion:
        made_by = "critics fitted to logged steps"
        log = self.log
        assert isinstance(log, Estimate)
        if fitted is None or self.log_fit is None:
            why = f"a plain sum over more than {LONGEST} steps is beyond it; give a --discount."
            return Refusal(made_by=made_by, why=why)
        facts = {
            "log": self.log_fit.value,
            "epochs": float(fitted.epochs),
            "change": fitted.change,
            "off": off,
        }
        gains = fitted.values - self.log_fit.values
        below, above = interval(gains)
        gained = {"gain": float(gains.mean()), "gain_low": below, "gain_high": above}
        estimate = Estimate(
            value=fitted.value,
            interval=interval(fitted.values),
            unit=self.measure.unit,
            made_by=f"{len(gains)} {made_by}",
            facts=facts | gained,
        )
        refuse = estimate.refused
        size = max(abs(log.value), float(np.abs(self.dataset.reward).mean()) * self._far)
        most = float(np.abs(self.dataset.reward).max()) * self._far
        if off > OFF:
            return refuse(f"at {off:.0%} of logged states it does what was never done there.")
        if not np.isfinite(fitted.values).all() or np.abs(fitted.values).max() > 1.5 * most:
            return refuse("the critics have diverged.")
        if not fitted.settled or not self.log_fit.settled:
            return refuse(f"it has not converged in {fitted.epochs} epochs.")
        earned = self.earned
        low, high = earned.interval or (earned.value, earned.value)
        apart = max(low - self.log_fit.value, self.log_fit.value - high, 0.0)
        if apart > MISSES * size:
            return refuse(
                f"it takes the log to be worth {self.log_fit.value:.4g}, which earned "
                f"{earned.value:.4g}: it cannot be trusted with others."
            )
        return estimate

    @cached_property
    def earned(self) -> Estimate:
        """What the rows earned that critics are fitted on; few of them may not tell for all."""
        found = behaviour(self.rows.dataset, self.measure, seed=self.seed)
        found = found if isinstance(found, Estimate) else self.log
        assert isinstance(found, Estimate)
        return found

    @property
    def _far(self) -> float:
        return float(self.measure.rest(0))

    def _weighting(self, actor: Actor, fitted: Fitted | None) -> dict[str, Opinion]:
        data, logged = self.rows.dataset, self.rows
        q = value = np.zeros(len(data))
        beside = fitted is not None and self.measure.horizon is None
        if data.discrete and fitted is not None and beside:
            q, value = (fitted.q(data.obs, each) for each in (logged.actions, actor(data.obs)))
        found = weighting(logged, actor, self.likely, q, value, self.measure, seed=self.seed)
        if not beside:  # Critics of a plain sum know the time, which these tables do not hold.
            del found["doubly robust"]
        return found


def _fault(clone: Policy, dataset: Dataset, judged: Dataset | None, updates: int, seed: int) -> str:
    """What is wrong with a clone's chances on rows that it has not seen.

    Where it has seen all, it is one of nine tenths of the episodes that is put to the last.
    """
    if dataset.propensity is not None:
        return ""
    if judged is None:
        taught, judged = split(dataset, draw_holdout(dataset, PUT_TO, seed))
        if judged is None:  # Nor are there episodes enough for weights.
            return ""
        clone = cloned(taught, updates=updates, seed=seed)
    return fault_of(clone, judged, dataset)


def judging_rows(
    dataset: Dataset, judged: Dataset | None
) -> tuple[Logged, Logged, tuple[str, ...]]:
    """What critics are fitted on, where rollouts begin, and what that weakens."""
    whole = Logged(dataset=dataset)
    if judged is None:
        note = "no episodes were set aside: all is judged by rows that may have taught the policy"
        return whole, whole, (note,)
    apart = Logged(dataset=judged)
    notes = []
    rows = starts = apart
    if len(judged.episode_ends) < ENOUGH_EPISODES or len(judged) < ENOUGH_ROWS:
        rows = whole
        notes.append(
            f"{len(judged.episode_ends):,} episodes ({len(judged):,} rows) were set aside, too few "
            "to fit critics on: they see rows that taught the policy"
        )
    if len(judged.episode_ends) < ENOUGH_STARTS:
        starts = whole
        notes.append("rollouts begin where all episodes did, those that taught the policy included")
    return rows, starts, tuple(notes)
