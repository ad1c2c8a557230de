"""From a config to the parts it needs: `Build` runs the stages before the policy."""

from __future__ import annotations

import json
import sys
from typing import Any

import jax.random as jr
import numpy as np
from jaxtyping import Array, Float

from countmorl.agents.base import AbstractAgent
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased
from countmorl.configs import to_json
from countmorl.counting.base import AbstractCounter
from countmorl.counting.calibration import calibrate
from countmorl.counting.exact import ExactCounter
from countmorl.counting.fit import CodesConfig, CounterName, collapsed
from countmorl.counting.learned import CodeCounter
from countmorl.counting.simhash import SimHashCounter
from countmorl.data.dataset import Dataset
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.termination import AbstractTermination, KnownTermination, known_rule
from countmorl.errors import ConfigError, RunError
from countmorl.files import write_text
from countmorl.pessimism import CountPenalty
from countmorl.rollouts import PenalizedModel
from countmorl.training.counters import save_counter
from countmorl.training.epoch import Imagination
from countmorl.training.model_stages import CodesStage, ModelStage, TerminationStage
from countmorl.training.stages import Stages

WANTED = 7.0
"""Rows per code. The paper's penalty worked best at 5 to 10."""
CLOSE = 1.75
"""Within this factor of what is wanted the search is content: each length takes a minute to fit."""
FULL = 1 / 16
"""Share of all codes in use at the most: where it is larger, a pair that was never seen shares a
code with some row by chance, and the code is made longer though rows per code get fewer."""
SENSIBLE = (2.0, 50.0)
TRIES = 3
SIMHASH_STREAM = 3


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
        self.model_stage = ModelStage(dataset, algorithm.model, seed, round_)
        if before is not None:
            self.model_stage.term = algorithm.model_term(before, dataset, self.model_stage.inputs)
        self.ensemble: Ensemble = stages.do(self.model_stage)

    @property
    def pairs(self) -> Float[Array, "rows inputs"]:
        """The standardised pairs that the model was fitted on."""
        return self.model_stage.rows.x

    @property
    def targets(self) -> Float[Array, "rows targets"]:
        """What followed each pair: the change of the observation, and the reward."""
        return self.model_stage.rows.y

    def imagination(self) -> Imagination:
        """The model a policy is trained in, with its pessimism."""
        config = self.algorithm
        model = PenalizedModel(self.ensemble, config.pessimism(self), self.termination())
        sizes = (config.horizon, config.begun, config.imagined_rows, config.going_on)
        return Imagination(model, *sizes, config.opponent(self))

    def termination(self) -> AbstractTermination:
        """The rule given, or the task's, or one learned from the flags of the data."""
        task = self.dataset.task
        name = self.algorithm.termination or (task.termination if task else None)
        if name is None and self.dataset.terminated[self.dataset.next_known].any():
            return self.stages.do(TerminationStage(self.dataset, self.seed))
        if name is None and self.dataset.terminated.any():
            self.say(
                "warning: the data tell where the task ends but not how the last step went, so "
                "ends cannot be learned; rollouts never end. --termination gives a rule."
            )
        return KnownTermination(known_rule(name or "never"))

    def counter(self, name: CounterName, config: CodesConfig) -> AbstractCounter:
        """Count the model's training rows; hold-out rows are never counted."""
        x, elites = self.model_stage.rows.x, len(self.ensemble.elites)
        if name == "exact":
            return ExactCounter.fit(x)
        if name == "simhash":
            if config.bits == "auto":
                raise ConfigError("simhash needs a code length; give --codes.bits (16 to 64).")
            key = jr.fold_in(jr.key(self.seed), SIMHASH_STREAM)
            return SimHashCounter.fit(x, config.bits, elites, key=key)
        if config.bits == "auto":
            counter, facts = self.search(config)
        else:
            counter, facts = self.codes(config, config.bits)
        self.tell_quality(counter, facts)
        return counter

    def tell_quality(self, counter: CodeCounter, facts: dict[str, Any]) -> None:
        """Say how many rows share a code, and aloud where that makes counts useless."""
        each = np.median(facts["samples_per_code"])
        self.say(
            f"codes of {counter.bits} bits: {each:.1f} rows per code, and a typical held-out pair "
            f"counts {facts['typical_count']:.1f}"
        )
        if not SENSIBLE[0] <= each <= SENSIBLE[1]:
            why = "nearly every pair looks unseen" if each < SENSIBLE[0] else "pairs look alike"
            self.say(
                f"warning: {each:.1f} rows per code are outside {SENSIBLE[0]:g} to "
                f"{SENSIBLE[1]:g}: {why}, so the penalty says little. --codes.bits auto chooses."
            )

    def keep_counter(self, penalty: CountPenalty) -> None:
        """Store the counter in the run, and how well its counts predict the model's error."""
        run, rows = self.stages.run, self.model_stage.rows
        about = {
            "beta": penalty.beta,
            "estimate": penalty.estimate,
            "alpha": penalty.alpha,
            "model": to_json(self.algorithm.model),
            "action_low": self.dataset.action_low.tolist(),
            "action_high": self.dataset.action_high.tolist(),
            "discrete": self.dataset.discrete,
        }
        save_counter(run, penalty.counter, about)
        self.say(f"a pair that was never seen costs {penalty.beta:.3g} (beta)")
        calibration = calibrate(
            self.ensemble,
            penalty.counter,
            rows.holdout_x,
            rows.holdout_y,
            penalty.estimate,
            penalty.alpha,
            actions=self.dataset.action_dim,
        )
        write_text(run.path / "calibration.json", json.dumps(calibration, indent=2) + "\n")
        self.say(calibration["verdict"])

    def search(self, config: CodesConfig) -> tuple[CodeCounter, dict[str, Any]]:
        """Try code lengths until about 7 rows share a code; keep the closest."""
        tried: dict[int, tuple[CodeCounter, dict[str, Any]]] = {}
        rows: dict[int, float] = {}
        bits = 24
        while bits not in tried and len(tried) < 6:
            tried[bits] = self.codes(config, bits)
            rows[bits] = crowding(tried[bits][1], bits)
            if WANTED / CLOSE <= rows[bits] <= WANTED * CLOSE:
                break
            bits = next_bits(rows, WANTED)
        best = min(rows, key=lambda length: abs(np.log(rows[length] / WANTED)))
        curve = ", ".join(f"{length}: {rows[length]:.1f}" for length in sorted(rows))
        self.say(f"rows per code, or how full the codes are, by code length: {curve}")
        return tried[best]

    def codes(self, config: CodesConfig, bits: int) -> tuple[CodeCounter, dict[str, Any]]:
        """Fit encoders of one length; one that collapses is fitted again, never used in silence."""
        x = self.model_stage.rows.x
        bad: list[int] = []
        for attempt in range(TRIES):
            stage = CodesStage(self.ensemble, self.model_stage.rows, config, bits, attempt)
            counter, facts = stage.counted(self.stages.do(stage))
            bad = collapsed(facts["samples_per_code"], len(x))
            if not bad:
                return counter, facts
            self.say(f"warning: the encoders of elites {bad} collapsed at {bits} bits; refitting")
        raise RunError(
            f"The encoders of elites {bad} collapse at {bits} bits even after {TRIES} tries, so "
            "their counts mean nothing. Try another --codes.bits, or more --codes.fit-epochs."
        )

    def say(self, text: str) -> None:
        """Tell the user something about the data."""
        if not self.stages.quiet:
            print(text, file=sys.stderr, flush=True)


def crowding(facts: dict[str, Any], bits: int) -> float:
    """Rows per code; or, where it is worse, how full the codes are, `FULL` being what is wanted."""
    full = float(np.median(facts["codes"])) / 2.0**bits
    return max(float(np.median(facts["samples_per_code"])), WANTED * full / FULL)


def next_bits(rows: dict[int, float], aim: float) -> int:
    """Where to look next: log rows per code falls about linearly with the code's length."""
    lengths = sorted(rows)
    above = [length for length in lengths if rows[length] > aim]
    below = [length for length in lengths if rows[length] <= aim]
    if not below:
        return min(128, round(lengths[-1] * 1.5))
    if not above:
        return max(4, round(lengths[0] / 1.5))
    low, high = above[-1], below[0]
    drop = np.log(rows[low] / rows[high])
    share = np.log(rows[low] / aim) / drop if drop > 0 else 0.5
    return round(float(np.clip(low + share * (high - low), low + 1, max(low + 1, high - 1))))
