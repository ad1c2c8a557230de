"""`resume`: go on with a run exactly where its last checkpoint is, or train on a finished one."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from countmorl.algorithms import ALONE, find_algorithm
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.configs import from_json, to_json
from countmorl.data.dataset import Dataset
from countmorl.data.sources import Source, load
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.loggers import NETWORK, LoggerName
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.tabular.train import NAME as TABULAR
from countmorl.tabular.train import resume_tabular
from countmorl.training.exact import go_on_exactly
from countmorl.training.train import EvaluatorFor, carry_out, check_rules


def resume(
    run: str | Path,
    *,
    evaluator_for: EvaluatorFor,
    data: Source | None = None,
    epochs: int | None = None,
    method: str | type[AbstractAlgorithm] | None = None,
    termination: str | None = None,
    reward_function: str | None = None,
    task: str | None = None,
    log: tuple[LoggerName, ...] = (),
    inexact: bool = False,
    quiet: bool = False,
) -> Run:
    """Go on with a run.

    `data` gives the dataset where it has moved or was never a file; `epochs` trains on beyond
    what was asked for at first. `method`, `termination`, `reward_function` and `task` are said
    again where they are code of your own, since no file makes code run; and `log` where metrics go
    over the network. `inexact` goes on where that cannot give the same bits.
    """
    opened = Run.open(run)
    with opened.lock():  # Before its manifest is read: another process may be changing it.
        manifest = opened.manifest
        if manifest.algorithm == "recipe":
            raise RunError(f"{run} makes data by a recipe; repeat its command to go on with it.")
        _check_version(opened, manifest)
        dataset = _load_again(opened, manifest, data, task)
        if epochs is not None and manifest.algorithm in (TABULAR, *ALONE):
            raise ConfigError(f"{run} trains no policy epoch by epoch, so --epochs makes no sense.")
        if manifest.algorithm == TABULAR:
            return resume_tabular(opened, dataset)
        algorithm = from_json(_class_of(opened, manifest, method), manifest.config)
        rules = [getattr(algorithm, name, None) for name in ("termination", "reward_function")]
        _said_again(opened, rules[0], termination, "ends its rollouts by the code", "--termination")
        _said_again(opened, rules[1], reward_function, "is paid by the code", "--reward-function")
        check_rules(algorithm, dataset)
        _check_network(opened, manifest, log)
        if not opened.finished or epochs is not None:
            manifest = go_on_exactly(opened, manifest, inexact=inexact)
        if epochs is not None:
            algorithm = _longer(opened, manifest, algorithm, epochs)
        return carry_out(opened, algorithm, dataset, evaluator_for, quiet=quiet)


def _check_version(run: Run, manifest: Manifest) -> None:
    made_by = manifest.versions.get("countmorl")
    if made_by is None:
        raise RunError(f"{run.path}/config.json does not say which version of countmorl made it.")
    if made_by != version("countmorl"):
        raise RunError(
            f"{run.path} was made by countmorl {made_by}, this is {version('countmorl')}: going on "
            f'would not give the same numbers. Use `pip install "countmorl=={made_by}"`.'
        )


def _check_network(run: Run, manifest: Manifest, said: tuple[LoggerName, ...]) -> None:
    """Refuse to send metrics anywhere because a file says so."""
    for name in manifest.options.log:
        if name in NETWORK and name not in said:
            raise RunError(
                f"{run.path} sends its metrics to {name}, and no file alone opens a connection. If "
                f"you trust it, say it again: --log {name}"
            )


def _class_of(
    run: Run, manifest: Manifest, method: str | type[AbstractAlgorithm] | None
) -> type[AbstractAlgorithm]:
    if isinstance(method, type):
        return method
    _said_again(run, manifest.algorithm, method, "was trained by the code", "--method")
    return find_algorithm(manifest.algorithm)


def _said_again(run: Run, code: str | None, said: str | None, what: str, option: str) -> None:
    """Refuse code that a file names and the user does not."""
    if code and ":" in code and said != code:
        raise RunError(
            f"{run.path} {what} '{code}', and no file alone makes code run. If you trust it, say "
            f"it again: {option} {code}"
        )
    if said is not None and said != code:
        raise RunError(f"{run.path} was begun with {option} {code}, not {said}; omit {option}.")


def _longer(
    run: Run, manifest: Manifest, algorithm: AbstractAlgorithm, epochs: int
) -> AbstractAlgorithm:
    """Ask for more epochs; what is there stays as it is."""
    if epochs <= algorithm.epochs:
        raise ConfigError(
            f"`epochs` must be more than the {algorithm.epochs} that {run.path} has, got {epochs}."
        )
    done = [record.epoch for record in run.records("policy")]
    if manifest.options.stop == "offline" and run.finished and done[-1] < algorithm.epochs:
        raise ConfigError(
            f"{run.path} ended after epoch {done[-1]}, since its judged value no longer rose; more "
            "--epochs would not be trained. Train a new run without --stop offline."
        )
    longer: Any = replace(algorithm, epochs=epochs)
    ended = (algorithm.epochs,) if run.finished else ()
    before = (*manifest.epochs_before, *ended)
    run.trained_on(replace(manifest, config=to_json(longer), epochs_before=before))
    return longer


def _load_again(run: Run, manifest: Manifest, data: Source | None, task: str | None) -> Dataset:
    """Load a run's dataset once more and check that it is the same."""
    origin = manifest.data
    if origin is None:
        raise RunError(f"{run.path} says nothing of its data, so it cannot go on.")
    named = origin.options.task
    _said_again(run, named, task, "is judged in the environment", "--task")
    source = data if data is not None else origin.source
    if source is None:
        raise RunError(f"{run.path} was trained on arrays in memory; pass the same ones as `data`.")
    try:
        dataset = load(source, options=origin.options)
    except DataError as error:
        raise DataError(f"{error} If the data have moved, name them with --data.") from error
    if dataset.hash != origin.hash:
        raise RunError(
            f"The dataset has changed since {run.path} began: its hash is {dataset.hash[:12]}, not "
            f"{origin.hash[:12]}. Bring the old file back (or name it with --data), or start a new "
            "run."
        )
    return dataset
