"""`train` and `resume` as users call them: training, with a simulator as its judge."""

from __future__ import annotations

from pathlib import Path

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.data.dataset import Dataset
from countmorl.data.sources import Source
from countmorl.evaluation.base import Evaluator
from countmorl.evaluation.offline import OfflineJudge
from countmorl.evaluation.simulate import Simulation
from countmorl.loggers import LoggerName
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.runs.options import DataOptions, RunOptions
from countmorl.training import resume as going_on
from countmorl.training import train as training
from countmorl.training.train import EvaluatorFor


def train(
    algorithm: AbstractAlgorithm | str,
    data: Source,
    *,
    out: str | Path | None = None,
    data_options: DataOptions | None = None,
    options: RunOptions | None = None,
    model: str | Path | None = None,
    evaluator: Evaluator | None = None,
    quiet: bool = False,
) -> Run:
    """Train an algorithm on a dataset; return the run, whose folder holds everything.

    `algorithm` is a config such as `BC(epochs=50)` or a name; `data` is anything `load` takes;
    `model` is another run on the same data, whose fitted model and codes are used again;
    `evaluator` judges the policy every few epochs, by default play in the data's task where that
    is known and installed.
    """
    return training.train(
        algorithm,
        data,
        evaluator_for=_judge(evaluator),
        out=out,
        data_options=data_options,
        options=options,
        model=model,
        quiet=quiet,
    )


def resume(
    run: str | Path,
    *,
    data: Source | None = None,
    epochs: int | None = None,
    method: str | type[AbstractAlgorithm] | None = None,
    termination: str | None = None,
    reward_function: str | None = None,
    task: str | None = None,
    log: tuple[LoggerName, ...] = (),
    inexact: bool = False,
    evaluator: Evaluator | None = None,
    quiet: bool = False,
) -> Run:
    """Go on with a stopped run exactly where its last checkpoint is.

    `data` gives the dataset where it has moved or was never a file; `epochs` trains a run on
    beyond what was asked for at first. `method` (your own class, or module:Class), `termination`,
    `reward_function` and `task` are said again where they are code of your own, since no file makes
    code run, and `log` where the run sends its metrics over the network. Where another machine or
    other packages would give other bits, `inexact` goes on all the same.
    """
    return going_on.resume(
        run,
        evaluator_for=_judge(evaluator),
        data=data,
        epochs=epochs,
        method=method,
        termination=termination,
        reward_function=reward_function,
        task=task,
        log=log,
        inexact=inexact,
        quiet=quiet,
    )


def _judge(given: Evaluator | None) -> EvaluatorFor:
    def judge(dataset: Dataset, manifest: Manifest) -> Evaluator | None:
        options = manifest.options
        if given is None and options.stop == "offline":
            return OfflineJudge.of(dataset, manifest)
        if given is not None or not options.simulate:
            return given
        return Simulation.of(dataset, options.eval_episodes)

    return judge
