"""`train` and `resume`: from a dataset and an algorithm to a finished run folder.

Training is handed what judges its policies; `countmorl.api` hands it the simulator.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from countmorl.agents.base import AbstractActorCritic
from countmorl.algorithms import ALGORITHMS, algorithm_name, find_algorithm
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_alone import AbstractAlone
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.configs import from_json, to_json
from countmorl.data.dataset import Dataset
from countmorl.data.holdout import draw_holdout, holdout_sentence, split
from countmorl.data.sources import Source, load, locate
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.dynamics.known_reward import check_reward
from countmorl.dynamics.termination import check_rule
from countmorl.errors import ConfigError, RunError
from countmorl.evaluation.base import Evaluator
from countmorl.loggers import check_loggers, make_loggers
from countmorl.runs.folder import Run
from countmorl.runs.manifest import DataOrigin, Manifest
from countmorl.runs.options import HOLDOUT, DataOptions, RunOptions
from countmorl.training.build import Build, build_alone
from countmorl.training.exact import environment
from countmorl.training.policy_fit import CloneFit, PolicyFit, PolicyJob
from countmorl.training.stages import Stages

EvaluatorFor = Callable[[Dataset, Manifest], Evaluator | None]
"""Finds what judges the policies of a run on its dataset; None where nothing can."""


def train(
    algorithm: AbstractAlgorithm | str,
    data: Source,
    *,
    evaluator_for: EvaluatorFor,
    out: str | Path | None = None,
    data_options: DataOptions | None = None,
    options: RunOptions | None = None,
    model: str | Path | None = None,
    quiet: bool = False,
) -> Run:
    """Train an algorithm on a dataset; return the run, whose folder holds everything."""
    if isinstance(algorithm, str):
        algorithm = find_algorithm(algorithm)()
    name = algorithm_name(algorithm)
    data_options, options = data_options or DataOptions(), options or RunOptions()
    dataset = load(data, options=data_options)
    check_actions(name, algorithm, dataset.name, dataset.discrete, dataset.action_dim)
    check_loggers(options.log)
    check_rules(algorithm, dataset)
    donor = None
    if model is not None:
        donor = _donor(model, algorithm, dataset)
        algorithm = _with_model_of(donor, algorithm)
        data_options = _with_holdout_of(donor, data_options)
    model_seed = donor.manifest.model_seed if donor else options.seed
    log_return, log_score = dataset.earned
    where = Path(out) if out else Path("runs") / _slug(f"{name}-{dataset.name}-seed{options.seed}")
    manifest = Manifest(
        algorithm=name,
        config=to_json(algorithm),
        own=_own_settings(algorithm),
        options=options,
        model_seed=model_seed,
        model_run=_seen_from(where, donor.path) if donor else None,
        environment=environment(),
        data=DataOrigin(
            source=locate(str(data)) if isinstance(data, (str, Path)) else None,
            name=dataset.name,
            hash=dataset.hash,
            options=data_options,
            schema=dataset.schema,
            holdout=draw_holdout(dataset, data_options.holdout_episodes, model_seed or 0),
            log_return=log_return,
            log_score=log_score,
        ),
    )
    with Run.begin(where, manifest) as run:
        return carry_out(run, algorithm, dataset, evaluator_for, quiet=quiet)


def check_actions(
    name: str, algorithm: AbstractAlgorithm, data: str, discrete: bool, actions: int
) -> None:
    """Raise where a method cannot learn to choose among a dataset's actions."""
    if discrete and not algorithm.takes_discrete:
        able = ", ".join(name for name, cls in ALGORITHMS.items() if cls.takes_discrete)
        raise ConfigError(
            f"'{data}' has {actions} discrete actions, and {name} needs actions that are vectors. "
            f"These take discrete ones: {able}."
        )


def _own_settings(algorithm: AbstractAlgorithm) -> tuple[str, ...]:
    """Settings that only this algorithm has; nested ones are parts that several share."""
    shared = {field.name for field in fields(AbstractModelBased)}
    nested = {f.name for f in fields(algorithm) if is_dataclass(getattr(algorithm, f.name))}
    return tuple(f.name for f in fields(algorithm) if f.name not in shared | nested)


def _donor(path: str | Path, algorithm: AbstractAlgorithm, dataset: Dataset) -> Run:
    """Open the run whose model is to be used again, and check that it fits."""
    donor = Run.open(path)
    manifest = donor.manifest
    if not isinstance(algorithm, (AbstractModelBased, AbstractAlone)):
        own = algorithm_name(algorithm)
        raise ConfigError(f"{own} learns no model, so --model makes no sense.")
    if manifest.part("model") is None:
        raise RunError(f"{path} is a run of {manifest.algorithm}, which learns no model.")
    if donor.load_result("model") is None:
        raise RunError(f"{path} holds no fitted model yet; let it finish its model first.")
    if manifest.data is None or manifest.data.hash != dataset.hash:
        raise RunError(f"The model of {path} was fitted on other data; it must be the same.")
    return donor


def _with_model_of(donor: Run, algorithm: AbstractAlgorithm) -> AbstractAlgorithm:
    """Take over the settings that the donor's model was fitted with."""
    assert isinstance(algorithm, (AbstractModelBased, AbstractAlone))
    theirs = from_json(EnsembleConfig, donor.manifest.part("model"))
    ours = algorithm.model
    if ours not in (EnsembleConfig(), theirs):
        names = [f.name for f in fields(ours) if getattr(ours, f.name) != getattr(theirs, f.name)]
        raise ConfigError(
            f"The model of {donor.path} was fitted with another {', '.join(names)}. Omit "
            "--model.* to take it as it is, or --model to fit one."
        )
    return replace(algorithm, model=theirs)


def _with_holdout_of(donor: Run, options: DataOptions) -> DataOptions:
    """Set aside what the donor's model has not seen, or it would have seen what judges it."""
    assert donor.manifest.data is not None
    theirs = donor.manifest.data.options.holdout_episodes
    if options.holdout_episodes not in (HOLDOUT, theirs):
        raise ConfigError(
            f"The model of {donor.path} was fitted with --holdout-episodes {theirs:g}, and a run "
            "that shares it has to set the same episodes aside. Omit the option, or --model."
        )
    return replace(options, holdout_episodes=theirs)


def _adopt(donor: Run, run: Run) -> None:
    """Copy what was fitted on the data: the model, its termination rule, its codes.

    Codes of any length are good, but only if they were fitted in the same way. Which of them are
    verified is found out afterwards.
    """
    any_ = {"bits": None, "verified": None}
    codes = [dict(each.manifest.part("codes") or {}, **any_) for each in (donor, run)]
    alike = codes[0] == codes[1]
    coded = [stage for stage in donor.stages() if stage.startswith("codes-") and alike]
    # The model last: where it is, all of it was copied, whenever that was cut short.
    for stage in (*coded, "termination", "model"):
        if saved := donor.load_result(stage):
            run.save_result(stage, saved[0])


def carry_out(
    run: Run,
    algorithm: AbstractAlgorithm,
    dataset: Dataset,
    evaluator_for: EvaluatorFor,
    *,
    quiet: bool,
) -> Run:
    """Do whatever is not done yet of a run, whose lock the caller holds."""
    manifest = run.manifest
    if manifest.model_run and run.load_result("model") is None:
        _adopt(_donor(run.path / manifest.model_run, algorithm, dataset), run)
    options = manifest.options
    loggers = make_loggers(options.log, run.path, to_json(manifest))
    sizes = (options.seed, options.save_every, options.keep_policies)
    stages = Stages(run, *sizes, loggers, quiet)
    job = PolicyJob(
        algorithm=algorithm,
        dataset=_taught(manifest, dataset, stages),
        options=options,
        info=_info(manifest, dataset),
        evaluator=evaluator_for(dataset, manifest),
    )
    try:
        _fits(job, stages, manifest.model_seed or 0)
        if options.stop == "offline":
            stages.say(_kept(run))
    finally:
        for logger in loggers:
            logger.close()
    return run


def _kept(run: Run) -> str:
    """Which policy is kept of a run that was judged all the way."""
    judged = [each for each in run.records("policy") if each.value is not None]
    best = max(judged, key=lambda each: (each.value or 0.0, -each.epoch))
    last = judged[-1].epoch
    return f"kept: the policy of epoch {best.epoch} of {last}, judged {best.value:.4g}, the highest"


def _taught(manifest: Manifest, dataset: Dataset, stages: Stages) -> Dataset:
    """The part of the data that a run learns from."""
    origin = manifest.data
    if origin is None:
        return dataset
    share = origin.options.holdout_episodes
    if not stages.run.metrics_path.exists():  # Said once, not whenever the run goes on.
        stages.say(holdout_sentence(dataset, share, origin.holdout))
    return split(dataset, origin.holdout).taught


def _fits(job: PolicyJob, stages: Stages, model_seed: int) -> None:
    """Carry out the fits of an algorithm, one after the other."""
    algorithm = job.algorithm
    if isinstance(algorithm, AbstractAlone):
        build_alone(algorithm, job.dataset, stages, model_seed)
        return
    clone = None
    if epochs := getattr(algorithm, "clone_epochs", 0):
        clone = stages.do(CloneFit(job, epochs))
    if isinstance(algorithm, AbstractModelBased):
        _rounds(job, algorithm, stages, model_seed, clone)
    else:
        stages.do(PolicyFit(job, clone=clone))


def _rounds(
    job: PolicyJob,
    algorithm: AbstractModelBased,
    stages: Stages,
    seed: int,
    clone: AbstractActorCritic | None,
) -> None:
    """Fit a model, train a policy in it; some methods do so twice."""
    agent = None
    for round_ in range(algorithm.rounds):
        build = Build(algorithm, job.dataset, stages, seed, round_, agent)
        is_last = round_ == algorithm.rounds - 1
        fit = PolicyFit(
            job,
            imagination=build.imagination(),
            retain=algorithm.retain,
            clone=clone,
            earlier_round=None if is_last else round_,
            epochs=algorithm.policy_epochs(round_),
        )
        agent = stages.do(fit)


def _info(manifest: Manifest, dataset: Dataset) -> dict[str, Any]:
    return {
        "algorithm": manifest.algorithm,
        "dataset": dataset.name,
        "task": dataset.task.env_id if dataset.task else None,
        "countmorl": version("countmorl"),
    }


def check_rules(algorithm: AbstractAlgorithm, dataset: Dataset) -> None:
    """Try what the user has named before hours are spent."""
    if rule := getattr(algorithm, "termination", None):
        check_rule(rule, dataset.obs_dim)
    if paid := getattr(algorithm, "reward_function", None):
        check_reward(paid, dataset)


def _seen_from(run: Path, other: Path) -> str:
    """Where another run lies as seen from this one, so that both can be moved together."""
    try:
        return Path(os.path.relpath(other, run)).as_posix()
    except ValueError:  # On another drive.
        return str(other.absolute())


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)
