"""What a run has trained, brought back: its data, its model, its rule for ends."""

from __future__ import annotations

from dataclasses import replace

from countmorl.data.dataset import Dataset
from countmorl.data.sources import Source, load
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.termination import AbstractTermination, KnownTermination, known_rule
from countmorl.dynamics.termination_fit import TerminationFit
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.fitting import run_fit
from countmorl.pessimism import NoPessimism
from countmorl.rollouts import PenalizedModel
from countmorl.runs.folder import Run, made_of
from countmorl.training.build import termination
from countmorl.training.stages import Stages


def dataset_of(
    run: Run, *, task: str | None = None, data: Source | None = None, simulated: bool = True
) -> Dataset:
    """The data that a run was trained on, whole; `data` names them where they have moved.

    Where they are not to be simulated, an environment that a file alone names is left out.
    """
    origin = run.manifest.data
    source = data if data is not None else (origin.source if origin else None)
    if origin is None or source is None:
        raise RunError(f"{run.path} does not say where its data lie. Name them with --data.")
    named = task or origin.options.task
    if not task and named and ":" in named:
        if simulated:
            raise ConfigError(
                f"{run.path} names the environment '{named}', for which a module would be "
                "imported. If you trust it, name it yourself with --task."
            )
        named = None
    try:
        dataset = load(source, options=replace(origin.options, task=named))
    except DataError as error:
        raise DataError(f"{error} If the data have moved, name them with --data.") from error
    if dataset.hash != origin.hash:
        raise RunError(
            f"{run.path} was trained on other data than '{dataset.name}'; name its own: --data."
        )
    return dataset


def ensemble_of(run: Run) -> Ensemble | None:
    """The model that a run's last policy was trained in, where there is one; some fit two."""
    for stage in ("model-1", "model"):
        if saved := run.load_result(stage):
            with made_of(run.result_path(stage)):
                return Ensemble.from_arrays(saved[0])
    return None


def termination_of(run: Run, taught: Dataset) -> AbstractTermination:
    """The run's rule. One that is the user's own code is left out: no file makes code run."""
    rule = run.manifest.config.get("termination")
    task_rule = taught.task.termination if taught.task else None
    learned = run.load_result("termination") is not None
    if (rule and ":" in rule) or not (rule or task_rule or learned):
        return KnownTermination(known_rule("never"))
    seed = run.manifest.model_seed or 0
    return termination(rule, taught, Stages(run, seed, save_every=1, quiet=True), seed)


def learned_termination(taught: Dataset, seed: int) -> AbstractTermination:
    """The task's rule, or one learned here and now from the flags of the data."""
    name = taught.task.termination if taught.task else None
    if name is None and taught.terminated.any():
        return run_fit(TerminationFit(taught, seed), seed=seed)
    return KnownTermination(known_rule(name or "never"))


def model_of(run: Run, taught: Dataset) -> PenalizedModel | None:
    """A run's model with its ends, trusted everywhere; None where it has none.

    Where its rule for ends is the user's own code, one is learned: a model without ends would
    flatter whatever falls.
    """
    ensemble = ensemble_of(run)
    if ensemble is None:
        return None
    rule = run.manifest.config.get("termination")
    own = isinstance(rule, str) and ":" in rule
    seed = run.manifest.model_seed or 0
    ends = learned_termination(taught, seed) if own else termination_of(run, taught)
    return PenalizedModel(ensemble, NoPessimism(), ends, Layout.of(taught))
