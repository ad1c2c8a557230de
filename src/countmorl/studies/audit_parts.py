"""What an audit needs of a run: its data, its model, its counter, its rule for ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Array, Float

from countmorl import trees
from countmorl.configs import from_json
from countmorl.counting.base import AbstractCounter, CodesConfig, Counting
from countmorl.counting.codes import Autoencoder
from countmorl.counting.fit import ORDERED, aim_of, coded
from countmorl.counting.learned import CodeCounter
from countmorl.counting.ordered import PLAIN
from countmorl.counting.query import NAME as COUNTER
from countmorl.counting.query import counts
from countmorl.data.dataset import Dataset
from countmorl.data.holdout import split
from countmorl.data.varying import varying_within
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleConfig, ModelRows, split_rows
from countmorl.dynamics.layout import Layout
from countmorl.errors import RunError
from countmorl.evaluation.parts import dataset_of, ensemble_of, termination_of
from countmorl.fitting import run_fit
from countmorl.pessimism import NoPessimism
from countmorl.rollouts import PenalizedModel
from countmorl.runs.folder import Run, made_of
from countmorl.scaling import Standardizer

ALPHA, HORIZON = 0.5, 5
"""Count-MORL's defaults, for runs that say nothing of them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """What was trained, brought back."""

    run: Run
    dataset: Dataset
    rows: ModelRows
    model: PenalizedModel
    counter: AbstractCounter | None
    alpha: float
    horizon: int
    """Steps of the rollouts that its policy was trained in."""

    @property
    def deviations(self) -> Float[np.ndarray, " targets"]:
        """Deviations of what is predicted, in the log's numbers."""
        raw = np.asarray(self.model.ensemble.targets.invert(self.rows.y))
        return np.asarray(Standardizer.fit(raw).std)

    @property
    def scale(self) -> Float[Array, " targets"]:
        """Deviations of what is predicted, as the model was taught it."""
        return Standardizer.fit(np.asarray(self.rows.y)).std

    def codes_of(self, bits: int) -> CodeCounter:
        """Fit codes of another length in the same model, in memory."""
        seed = self.run.manifest.model_seed or 0
        job = Counting(
            ensemble=self.model.ensemble,
            rows=self.rows,
            config=CodesConfig(bits=bits),
            seed=seed,
            do=partial(run_fit, seed=seed),
            say=lambda _: None,
            varying=varying_within(self.dataset.obs, self.dataset.episode_ends),
        )
        return CodeCounter.fit(job)


def parts_of(path: Path, *, task: str | None = None, data: str | None = None) -> Parts:
    """Bring back what a run has trained; its data must be those it was trained on."""
    run = Run.open(path)
    ensemble = _ensemble(run)
    manifest = run.manifest
    dataset = split(
        dataset_of(run, task=task, data=data), manifest.data and manifest.data.holdout
    ).taught
    config = from_json(EnsembleConfig, manifest.part("model"))
    rows, _ = split_rows(dataset, config, manifest.model_seed or 0)
    ends = termination_of(run, dataset)
    counter, alpha = _counter(run, ensemble, rows)
    return Parts(
        run=run,
        dataset=dataset,
        rows=rows,
        model=PenalizedModel(ensemble, NoPessimism(), ends, Layout.of(dataset)),
        counter=counter,
        alpha=alpha,
        horizon=int(manifest.config.get("horizon", HORIZON)),
    )


def _ensemble(run: Run) -> Ensemble:
    found = ensemble_of(run)
    if found is None or run.manifest.part("model") is None:
        raise RunError(
            f"{run.path} holds no fitted model to audit. Give a run of a method with a model, such "
            "as `countmorl train count-morl` or `countmorl train model`, once its model is fitted."
        )
    return found


def _counter(run: Run, ensemble: Ensemble, rows: ModelRows) -> tuple[AbstractCounter | None, float]:
    """The run's counter; or the codes that were fitted for other runs to share."""
    if run.result_path(COUNTER).exists():
        query = counts(run)
        return query.counter, query.alpha
    found = [_coded(run, stage, ensemble, rows) for stage in run.stages() if "codes-" in stage]
    crowded = lambda each: abs(np.log(each.rows_per_code / PLAIN.rows))  # noqa: E731
    return min(found, key=crowded, default=None), ALPHA


def _coded(run: Run, stage: str, ensemble: Ensemble, rows: ModelRows) -> CodeCounter:
    saved = run.load_result(stage)
    assert saved is not None
    aim = aim_of(from_json(CodesConfig, run.manifest.part("codes"))) if ORDERED in stage else None
    with made_of(run.result_path(stage)):
        autoencoders = Autoencoder.from_arrays(trees.nest(saved[0]))
        found = coded(ensemble, autoencoders, rows.x, rows.holdout_x, aim)
        return CodeCounter(autoencoders=found.autoencoders, tables=found.tables)
