"""From a config to the parts it needs: `Build` carries out the fits before the policy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Array, Float

from countmorl.agents.base import AbstractAgent
from countmorl.agents.clone import CLONE_EPOCHS, cloned
from countmorl.algorithms.model_alone import AbstractAlone, CodesAlone
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased
from countmorl.counting import find_counter
from countmorl.counting.base import AbstractCounter, CodesConfig, Counting
from countmorl.counting.calibration import calibrate
from countmorl.counting.held_out import Episodes, coverage, held_out
from countmorl.counting.learned import CodeCounter
from countmorl.counting.query import CountUse, save_counter
from countmorl.counting.verifying import doubts, told, verify
from countmorl.data.dataset import Dataset
from countmorl.data.varying import varying_within
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleFit, ModelRows
from countmorl.dynamics.known_reward import KnownReward
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.termination import AbstractTermination, KnownTermination, known_rule
from countmorl.dynamics.termination_fit import TerminationFit
from countmorl.pessimism import CountPenalty, NoPessimism
from countmorl.rollouts import PenalizedModel, Sequences
from countmorl.runs.calibration import Calibration, Threshold
from countmorl.scaling import reward_unit
from countmorl.training.behaviour import imagined_pairs
from countmorl.training.epoch import Imagination
from countmorl.training.stages import Stages


class Build(AbstractBuild):
    """Fits, or reads from the run, whatever an algorithm asks for."""

    def __init__(
        self,
        algorithm: AbstractModelBased,
        dataset: Dataset,
        stages: Stages,
        seed: int,
        round_: int = 0,
        before: AbstractAgent | None = None,
    ) -> None:
        self.algorithm, self.dataset, self.stages, self.seed = algorithm, dataset, stages, seed
        fit = EnsembleFit.of(dataset, algorithm.model, seed=seed, round_=round_)
        if before is not None:
            fit.term = algorithm.model_term(before, dataset, fit.scales.inputs)
        self.rows = fit.rows
        self.ensemble: Ensemble = stages.do(fit)
        self.verified: tuple[Threshold, ...] = ()

    @property
    def pairs(self) -> Float[Array, "rows inputs"]:
        """The standardised pairs that the model was fitted on."""
        return self.rows.x

    @property
    def targets(self) -> Float[Array, "rows targets"]:
        """What followed each pair, standardised: changes of the observation, and the reward."""
        return self.rows.y

    @property
    def unit(self) -> float:
        """What weights of penalties are multiplied by to be rewards of the log."""
        scaled = self.algorithm.model.scale_targets
        return reward_unit(self.dataset.reward) if scaled else 1.0

    def imagination(self) -> Imagination:
        """The model a policy is trained in, with its pessimism."""
        config = self.algorithm
        model = PenalizedModel(
            self.ensemble,
            config.pessimism(self),
            self.termination(),
            Layout.of(self.dataset),
            KnownReward.of(config.reward_function),
        )
        sizes = (config.horizon, config.begun, config.imagined_rows, config.going_on)
        sequences = Sequences.of(self.dataset, config.rows)
        return Imagination(model, *sizes, config.model_adversary(self), sequences)

    def termination(self) -> AbstractTermination:
        """The rule given, or the task's, or one learned from the flags of the data."""
        return termination(self.algorithm.termination, self.dataset, self.stages, self.seed)

    def counter(self, name: str, config: CodesConfig) -> AbstractCounter:
        """Count the model's training rows; hold-out rows are never counted."""
        model = self.ensemble, self.rows
        found = counter(name, config, model, self.dataset, self.stages, self.seed)
        if config.verified is None or not isinstance(found, CodeCounter):
            return found
        evidence = (self.ensemble, self.rows, self.behaviour_pairs())
        forgets = 1 - self.algorithm.sac.discount
        found, self.verified = verify(found, config.verified, *evidence, forgets=forgets)
        self.stages.say(told(self.verified))
        if doubt := doubts(self.verified):
            self.stages.say(f"warning: {doubt}")
        return found

    def behaviour_pairs(self) -> Float[Array, "pairs inputs"]:
        """What a clone of the data imagines in the model, as long as rollouts are in training."""
        parts = (NoPessimism(), self.termination(), Layout.of(self.dataset))
        updates = CLONE_EPOCHS * self.algorithm.updates
        clone = cloned(self.dataset, updates=updates, seed=self.seed)
        sizes = {"horizon": self.algorithm.usual_length, "seed": self.seed}
        return imagined_pairs(PenalizedModel(self.ensemble, *parts), clone, self.dataset, **sizes)

    def keep_counter(self, name: str, penalty: CountPenalty) -> None:
        """Store the counter in the run, and how well its counts predict the model's error."""
        space, run = self.dataset.space, self.stages.run
        use = CountUse(
            counter=name,
            beta=penalty.beta,
            estimate=penalty.estimate,
            alpha=penalty.alpha,
            join=penalty.join,
            action_low=tuple(space.low.tolist()),
            action_high=tuple(space.high.tolist()),
            discrete=space.discrete,
        )
        save_counter(run, penalty.counter, use, metrics_size=self.stages.metrics_size)
        self.stages.say(f"a pair that was never seen costs {penalty.beta:.3g} (beta)")
        if penalty.beta == 0 and self.algorithm.beta == "auto":  # type: ignore[attr-defined]
            self.stages.say(
                "warning: every logged reward is 0, so there is nothing to learn and nothing to "
                "lose: no pair is penalised. Is the reward's column the right one?"
            )
        calibration = self.calibration(penalty)
        calibration.write(run.path)
        self.stages.say(calibration.verdict)

    def calibration(self, penalty: CountPenalty) -> Calibration:
        """What counts tell of held-out rows, of whole episodes, and of what a clone imagines."""
        known = self.rows.holdout_known
        known = slice(None) if known is None else known
        found = calibrate(
            self.ensemble,
            penalty.counter,
            self.rows.holdout_x[known],
            self.rows.holdout_y[known],
            penalty.estimate,
            penalty.alpha,
            actions=self.dataset.action_dim,
        )
        episodes = Episodes.of(self.dataset, self.algorithm.model, self.seed)
        whole = held_out(self.ensemble, penalty.counter, self.rows.x, episodes)
        said = [found.verdict, coverage(whole, episodes)]
        if self.verified and (doubt := doubts(self.verified)):
            said.append(doubt)
        return replace(found, held_out=whole, verified=self.verified, verdict=" ".join(said))


def termination(
    rule: str | None, dataset: Dataset, stages: Stages, seed: int
) -> AbstractTermination:
    """The rule given, or the task's, or one learned from the flags of the data."""
    name = rule or (dataset.task.termination if dataset.task else None)
    if name is None and dataset.terminated.any():
        return stages.do(TerminationFit(dataset, seed))
    return KnownTermination(known_rule(name or "never"))


def counter(
    name: str,
    config: CodesConfig,
    model: tuple[Ensemble, ModelRows],
    dataset: Dataset,
    stages: Stages,
    seed: int,
) -> AbstractCounter:
    """Count the model's training rows; hold-out rows are never counted."""
    ensemble, rows = model
    job = Counting(
        ensemble=ensemble,
        rows=rows,
        config=config,
        seed=seed,
        do=stages.do,
        say=stages.say,
        varying=varying_within(dataset.obs, dataset.episode_ends),
    )
    return find_counter(name).fit(job)


def build_alone(algorithm: AbstractAlone, dataset: Dataset, stages: Stages, seed: int) -> None:
    """Fit what other runs share. What tells that all is there comes last."""
    termination(algorithm.termination, dataset, stages, seed)
    fit = EnsembleFit.of(dataset, algorithm.model, seed=seed)
    ensemble = stages.do(fit)
    if isinstance(algorithm, CodesAlone):
        counter("codes", algorithm.codes, (ensemble, fit.rows), dataset, stages, seed)
        stages.run.save_result("codes", {"done": np.ones((), bool)})
