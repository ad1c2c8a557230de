"""What an audit needs of a run: its data, its model, its counter, its rule for ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from countmorl import trees
from countmorl.configs import from_json
from countmorl.counting.base import AbstractCounter
from countmorl.counting.codes import Autoencoder
from countmorl.counting.fit import encode
from countmorl.counting.learned import CodeCounter
from countmorl.counting.query import NAME as COUNTER
from countmorl.counting.query import counts
from countmorl.counting.search import WANTED
from countmorl.counting.table import CountTable
from countmorl.data.dataset import Dataset
from countmorl.data.holdout import split
from countmorl.data.sources import load
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleConfig, ModelRows, split_rows
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.termination import AbstractTermination, KnownTermination, known_rule
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.pessimism import NoPessimism
from countmorl.rollouts import PenalizedModel
from countmorl.runs.folder import Run
from countmorl.scaling import Standardizer
from countmorl.training.build import termination
from countmorl.training.stages import Stages

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


def parts_of(path: Path, *, task: str | None = None, data: str | None = None) -> Parts:
    """Bring back what a run has trained; its data must be those it was trained on."""
    run = Run.open(path)
    ensemble = _ensemble(run)
    manifest = run.manifest
    dataset = split(_dataset(run, task, data), manifest.data and manifest.data.holdout).taught
    config = from_json(EnsembleConfig, manifest.part("model"))
    rows, _ = split_rows(dataset, config, manifest.model_seed or 0)
    ends = _termination(run, dataset)
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
    """The model that the last policy was trained in; some methods fit two."""
    saved = run.load_result("model-1") or run.load_result("model")
    if saved is None or run.manifest.part("model") is None:
        raise RunError(
            f"{run.path} holds no fitted model to audit. Give a run of a method with a model, such "
            "as `countmorl train count-morl` or `countmorl train model`, once its model is fitted."
        )
    return Ensemble.from_arrays(saved[0])


def _dataset(run: Run, task: str | None, data: str | None) -> Dataset:
    origin = run.manifest.data
    source = data or (origin.source if origin else None)
    if origin is None or source is None:
        raise RunError(f"{run.path} does not say where its data lie. Name them with --data.")
    named = task or origin.options.task
    if not task and named and ":" in named:
        raise ConfigError(
            f"{run.path} names the environment '{named}', for which a module would be imported. If "
            "you trust it, name it yourself with --task."
        )
    try:
        dataset = load(source, options=replace(origin.options, task=named))
    except DataError as error:
        raise DataError(f"{error} If the data have moved, name them with --data.") from error
    if dataset.hash != origin.hash:
        raise RunError(f"{run.path} was trained on other data than {source}; name its own: --data.")
    return dataset


def _termination(run: Run, dataset: Dataset) -> AbstractTermination:
    """The run's rule. One that is the user's own code is left out: no file makes code run."""
    rule = run.manifest.config.get("termination")
    task_rule = dataset.task.termination if dataset.task else None
    learned = run.load_result("termination") is not None
    if (rule and ":" in rule) or not (rule or task_rule or learned):
        return KnownTermination(known_rule("never"))
    seed = run.manifest.model_seed or 0
    return termination(rule, dataset, Stages(run, seed, save_every=1, quiet=True), seed)


def _counter(run: Run, ensemble: Ensemble, rows: ModelRows) -> tuple[AbstractCounter | None, float]:
    """The run's counter; or the codes that were fitted for other runs to share."""
    if run.result_path(COUNTER).exists():
        query = counts(run)
        return query.counter, query.alpha
    found = [_coded(run, stage, ensemble, rows) for stage in run.stages() if "codes-" in stage]
    crowded = lambda each: abs(np.log(each.rows_per_code / WANTED))  # noqa: E731
    return min(found, key=crowded, default=None), ALPHA


def _coded(run: Run, stage: str, ensemble: Ensemble, rows: ModelRows) -> CodeCounter:
    saved = run.load_result(stage)
    assert saved is not None
    autoencoders = Autoencoder.from_arrays(trees.nest(saved[0]))
    words, _ = encode(ensemble, autoencoders, jnp.asarray(rows.x))
    return CodeCounter(autoencoders=autoencoders, tables=tuple(map(CountTable.of, words)))
