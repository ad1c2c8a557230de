"""The stages before the policy: the dynamics ensemble, its termination rule, the codes."""

from typing import Any

import numpy as np

from countmorl.counting import fit as codes_fit
from countmorl.counting.codes import Autoencoder
from countmorl.counting.fit import CodesConfig, CodesState
from countmorl.counting.learned import CodeCounter
from countmorl.counting.table import CountTable
from countmorl.data.dataset import Dataset
from countmorl.dynamics import fit as model_fit
from countmorl.dynamics import termination_fit
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import AbstractModelTerm, EnsembleConfig, FitState, Rows
from countmorl.dynamics.termination import LearnedTermination
from countmorl.dynamics.termination_fit import EndState
from countmorl.fitting import AbstractStage
from countmorl.types import Key, Metrics


class ModelStage(AbstractStage[FitState, Ensemble]):
    """Fits the ensemble until no member improves any more."""

    shown = ("loss", "holdout")
    term: AbstractModelTerm | None = None
    """What a method adds to the members' loss."""

    def __init__(
        self, dataset: Dataset, config: EnsembleConfig, seed: int, round_: int = 0
    ) -> None:
        self.name, self.stream = ("model", 1) if round_ == 0 else (f"model-{round_}", 100 + round_)
        self.config, self.epochs = config, config.max_epochs
        self.rows, self.inputs = model_fit.split_rows(dataset, config, seed)
        self.updates = config.steps(len(self.rows.x))

    def init(self, *, key: Key) -> FitState:
        """Draw the members and their bootstraps."""
        return model_fit.start(self.rows, self.config, key=key)

    def epoch(self, state: FitState, *, key: Key) -> tuple[FitState, Metrics]:
        """One pass over every member's bootstrap."""
        return model_fit.fit_epoch((self.rows, self.config, self.term), state, key)

    def judge(self, state: FitState, epoch: int) -> dict[str, Any]:
        """Mean error of the elites so far."""
        best = np.sort(np.asarray(state.best_error))[: self.config.elites]
        return {"holdout": float(best.mean())}

    def finished(self, state: FitState) -> bool:
        """Stop when patience is over."""
        return int(state.stale) > self.config.patience

    def result(self, state: FitState) -> Ensemble:
        """The best weights of each member, ranked."""
        return model_fit.finish(state, self.inputs, self.config.elites)


class CodesStage(AbstractStage[CodesState, Autoencoder]):
    """Fits the elites' encoders for one code length."""

    def __init__(
        self, ensemble: Ensemble, rows: Rows, config: CodesConfig, bits: int, attempt: int = 0
    ) -> None:
        self.ensemble, self.config, self.bits = ensemble, config, bits
        self.x, self.held = rows.x, rows.holdout_x
        self._counted: tuple[tuple[CountTable, ...], dict[str, Any]] | None = None
        # Computed here: inside the compiled `init` the data would be constants that XLA folds.
        self.scales = codes_fit.feature_scales(ensemble, rows.x)
        self.name = f"codes-{bits}" + (f"-again{attempt}" if attempt else "")
        self.stream = 1000 * (attempt + 1) + bits
        self.epochs, self.updates = config.fit_epochs, config.fit_updates

    def init(self, *, key: Key) -> CodesState:
        """Random encoders."""
        inputs = self.x.shape[1]
        return codes_fit.start(self.scales, inputs, self.bits, self.config, key=key)

    def epoch(self, state: CodesState, *, key: Key) -> tuple[CodesState, Metrics]:
        """Encoder updates."""
        return codes_fit.fit_epoch((self.ensemble, self.x, self.config), state, key)

    def judge(self, state: CodesState, epoch: int) -> dict[str, Any]:
        """At the end: codes used, rows per code, entropy of the bits; a typical count."""
        if epoch < self.epochs:
            return {}
        return self.counted(state.autoencoders)[1]

    def result(self, state: CodesState) -> Autoencoder:
        """The encoders."""
        return state.autoencoders

    def counted(self, autoencoders: Autoencoder) -> tuple[CodeCounter, dict[str, Any]]:
        """The counter that fitted encoders give, and its facts; counted once."""
        if self._counted is None:
            counter, facts = count_rows(self.ensemble, autoencoders, self.x)
            typical = typical_count(self.ensemble, counter, self.held)
            self._counted = counter.tables, facts | {"typical_count": typical}
        tables, facts = self._counted
        return CodeCounter(autoencoders, tables), facts


def count_rows(
    ensemble: Ensemble, autoencoders: Autoencoder, x: Any
) -> tuple[CodeCounter, dict[str, list[float]]]:
    """Count the codes of the model's training rows; hold-out rows are never counted."""
    words, ones = codes_fit.encode(ensemble, autoencoders, x)
    tables = [CountTable.of(member) for member in words]
    facts = codes_fit.quality(tables, ones, len(x))
    return CodeCounter(autoencoders, tuple(tables)), facts


def typical_count(ensemble: Ensemble, counter: CodeCounter, held: Any) -> float:
    """The median, over held-out rows, of the members' mean count."""
    counts = counter.counts(held, ensemble.trunks(held))
    return float(np.median(np.asarray(counts).mean(axis=0)))


class TerminationStage(AbstractStage[EndState, LearnedTermination]):
    """Learns when the task ends, where no rule is known."""

    name = "termination"
    stream = 2
    epochs = 5

    def __init__(self, dataset: Dataset, seed: int) -> None:
        self.rows, self.inputs = termination_fit.split_rows(dataset, seed)

    def init(self, *, key: Key) -> EndState:
        """A random classifier."""
        return termination_fit.start(self.rows, key=key)

    def epoch(self, state: EndState, *, key: Key) -> tuple[EndState, Metrics]:
        """Classifier updates."""
        return termination_fit.fit_epoch(self.rows, state, key)

    def judge(self, state: EndState, epoch: int) -> dict[str, Any]:
        """Held-out errors of the calibrated rule."""
        rule = termination_fit.finish(state, self.rows, self.inputs)
        return termination_fit.quality(rule, self.rows)

    def result(self, state: EndState) -> LearnedTermination:
        """The calibrated rule."""
        return termination_fit.finish(state, self.rows, self.inputs)
