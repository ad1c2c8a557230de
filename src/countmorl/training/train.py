"""`train` and `resume`: from a dataset and an algorithm to a finished run folder."""

from __future__ import annotations

import platform
from dataclasses import fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from countmorl.algorithms import ALGORITHMS, find_algorithm
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.configs import from_json, to_json
from countmorl.data.dataset import Dataset
from countmorl.data.sources import Source, load, locate
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.dynamics.termination import check_rule
from countmorl.errors import ConfigError, CountMorlError, DataError, RunError
from countmorl.loggers import check_loggers, make_loggers
from countmorl.runs.folder import Run
from countmorl.training.build import Build
from countmorl.training.options import DataOptions, RunOptions
from countmorl.training.policy_fit import CloneStage, PolicyStage
from countmorl.training.stages import Stages

PACKAGES = ("countmorl", "jax", "jaxlib", "equinox", "optax", "numpy")


def train(
    algorithm: AbstractAlgorithm | str,
    data: Source,
    *,
    out: str | Path | None = None,
    data_options: DataOptions | None = None,
    options: RunOptions | None = None,
    model: str | Path | None = None,
    quiet: bool = False,
) -> Run:
    """Train an algorithm on a dataset; return the run, whose folder holds everything.

    `algorithm` is a config such as `BC(epochs=50)` or a name; `data` is anything `load` takes;
    `model` is another run on the same data, whose fitted model and codes are used again.
    """
    if isinstance(algorithm, str):
        algorithm = find_algorithm(algorithm)()
    data_options, options = data_options or DataOptions(), options or RunOptions()
    name = algorithm_name(algorithm)
    dataset = _load(data, data_options)
    if dataset.discrete and not algorithm.takes_discrete:
        able = ", ".join(name for name, cls in ALGORITHMS.items() if cls.takes_discrete)
        raise ConfigError(
            f"'{dataset.name}' has {dataset.action_dim} discrete actions, and {name} needs actions "
            f"that are vectors. These take discrete ones: {able}."
        )
    check_loggers(options.log)
    if rule := _rule(algorithm):
        check_rule(rule, dataset.obs_dim)
    donor = None
    if model is not None:
        donor = _donor(model, algorithm, dataset)
        algorithm = _with_model_of(donor, algorithm)
    where = Path(out) if out else Path("runs") / f"{name}-{_slug(dataset.name)}-seed{options.seed}"
    run = Run.create(
        where,
        {
            "algorithm": name,
            "config": to_json(algorithm),
            "options": to_json(options),
            "model_seed": donor.config["model_seed"] if donor else options.seed,
            "model_run": str(donor.path) if donor else None,
            "data": {
                "source": locate(str(data)) if isinstance(data, (str, Path)) else None,
                "name": dataset.name,
                "hash": dataset.hash,
                "options": to_json(data_options),
            },
            "versions": {package: version(package) for package in PACKAGES}
            | {"python": platform.python_version()},
        },
    )
    try:
        if donor:
            _adopt(donor, run)
        return _go(run, algorithm, dataset, options, quiet=quiet)
    except CountMorlError:
        run.discard_unbegun()  # Or the corrected command would find its folder taken.
        raise


def _donor(path: str | Path, algorithm: AbstractAlgorithm, dataset: Dataset) -> Run:
    """Open the run whose model is to be used again, and check that it fits."""
    donor = Run.open(path)
    try:
        config = donor.config
        name, settings, data = config["algorithm"], config["config"], config["data"]["hash"]
        has_model = "model" in settings and isinstance(config["model_seed"], int)
    except (KeyError, TypeError) as error:
        raise RunError(f"{path}/config.json is incomplete: {error} is missing.") from error
    if not isinstance(algorithm, AbstractModelBased):
        own = algorithm_name(algorithm)
        raise ConfigError(f"{own} learns no model, so --model makes no sense.")
    if not has_model:
        raise RunError(f"{path} is a run of {name}, which learns no model.")
    if donor.load_result("model") is None:
        raise RunError(f"{path} holds no fitted model yet; let it finish its model first.")
    if data != dataset.hash:
        raise RunError(f"The model of {path} was fitted on other data; it must be the same.")
    return donor


def _with_model_of(donor: Run, algorithm: AbstractAlgorithm) -> AbstractAlgorithm:
    """Take over the settings that the donor's model was fitted with."""
    assert isinstance(algorithm, AbstractModelBased)
    theirs = from_json(EnsembleConfig, donor.config["config"]["model"])
    ours = algorithm.model
    if ours not in (EnsembleConfig(), theirs):
        names = [f.name for f in fields(ours) if getattr(ours, f.name) != getattr(theirs, f.name)]
        raise ConfigError(
            f"The model of {donor.path} was fitted with another {', '.join(names)}. Leave "
            "--model.* away to take it as it is, or --model to fit one."
        )
    return replace(algorithm, model=theirs)


def _adopt(donor: Run, run: Run) -> None:
    """Copy what was fitted on the data: the model, its termination rule, its codes.

    Codes of any length are good, but only if they were fitted in the same way.
    """
    codes = [dict(each.config["config"].get("codes", {}), bits=None) for each in (donor, run)]
    for path in sorted((donor.path / "stages").glob("*.safetensors")):
        good_codes = path.stem.startswith("codes-") and codes[0] == codes[1]
        if path.stem in ("model", "termination") or good_codes:
            saved = donor.load_result(path.stem)
            assert saved is not None
            run.save_result(path.stem, saved[0])


def resume(
    run: str | Path,
    *,
    data: Source | None = None,
    termination: str | None = None,
    quiet: bool = False,
) -> Run:
    """Go on with a stopped run exactly where its last checkpoint is.

    `data` gives the dataset where it has moved or was never a file; `termination` is said again
    where it is code of your own, since no file makes code run.
    """
    opened = Run.open(run)
    config = opened.config
    try:
        algorithm = from_json(find_algorithm(config["algorithm"]), config["config"])
        options = from_json(RunOptions, config["options"])
        data_options = from_json(DataOptions, config["data"]["options"])
        source, wanted = config["data"]["source"], config["data"]["hash"]
        made_by = config["versions"]["countmorl"]
    except (KeyError, TypeError) as error:
        raise RunError(f"{opened.path}/config.json is incomplete: {error} is missing.") from error
    if not isinstance(wanted, str):
        raise RunError(f"{opened.path}/config.json holds no hash of the dataset.")
    if made_by != version("countmorl"):
        raise RunError(
            f"{run} was made by countmorl {made_by}, this is {version('countmorl')}: going on "
            f'would not give the same numbers. Use `pip install "countmorl=={made_by}"`.'
        )
    rule = _rule(algorithm)
    if rule and ":" in rule and termination != rule:
        raise RunError(
            f"{run} ends its rollouts by the code '{rule}', and no file alone makes code run. If "
            f"you trust it, say it again: --termination {rule}"
        )
    dataset = _load_again(opened, data if data is not None else source, data_options, wanted)
    if rule:
        check_rule(rule, dataset.obs_dim)
    return _go(opened, algorithm, dataset, options, quiet=quiet)


def _load_again(run: Run, data: Source | None, options: DataOptions, wanted: str) -> Dataset:
    """Load a run's dataset once more and check that it is the same."""
    if data is None:
        raise RunError(f"{run.path} was trained on arrays in memory; pass the same ones as `data`.")
    try:
        dataset = _load(data, options)
    except DataError as error:
        raise DataError(f"{error} If the data have moved, name them with --data.") from error
    if dataset.hash != wanted:
        raise RunError(
            f"The dataset has changed since {run.path} began: its hash is {dataset.hash[:12]}, not "
            f"{wanted[:12]}. Bring the old file back (or name it with --data), or start a new run."
        )
    return dataset


def algorithm_name(algorithm: AbstractAlgorithm) -> str:
    """Return the name under which an algorithm's class is known."""
    for name, cls in ALGORITHMS.items():
        if type(algorithm) is cls:
            return name
    kind = algorithm if isinstance(algorithm, type) else type(algorithm)
    if kind in ALGORITHMS.values():
        raise ConfigError(f"Give settings, not their class: {kind.__name__}(), with brackets.")
    raise ConfigError(
        f"{kind.__name__} is not a known algorithm; add it to "
        "`countmorl.algorithms.ALGORITHMS` first."
    )


def _go(
    run: Run, algorithm: AbstractAlgorithm, dataset: Dataset, options: RunOptions, *, quiet: bool
) -> Run:
    with run.lock():
        loggers = make_loggers(options.log, run.path, run.config)
        stages = Stages(run, options.seed, options.save_every, loggers, quiet)
        try:
            info = _info(run, dataset)
            if isinstance(algorithm, AbstractModelBased):
                _rounds(algorithm, dataset, options, info, stages)
            else:
                stages.do(PolicyStage(algorithm, dataset, options, info))
        finally:
            for logger in loggers:
                logger.close()
    return run


def _rounds(
    algorithm: AbstractModelBased,
    dataset: Dataset,
    options: RunOptions,
    info: dict[str, Any],
    stages: Stages,
) -> None:
    """Fit a model, train a policy in it; some methods do so twice."""
    clone = stages.do(CloneStage(algorithm, dataset)) if algorithm.clone_epochs else None
    agent, seed = None, stages.run.config["model_seed"]
    for round_ in range(algorithm.rounds):
        build = Build(algorithm, dataset, stages, seed, round_, agent)
        is_last = round_ == algorithm.rounds - 1
        stage = PolicyStage(
            algorithm,
            dataset,
            options,
            info,
            build.imagination(),
            algorithm.retain,
            clone,
            earlier_round=None if is_last else round_,
            epochs=algorithm.policy_epochs(round_),
        )
        agent = stages.do(stage)


def _info(run: Run, dataset: Dataset) -> dict[str, Any]:
    config = run.config
    return {
        "algorithm": config["algorithm"],
        "dataset": dataset.name,
        "task": dataset.task.env_id if dataset.task else None,
        "countmorl": config["versions"]["countmorl"],
    }


def _load(data: Source, options: DataOptions) -> Dataset:
    return load(data, task=options.task, mode=options.mode, rows=options.rows)


def _rule(algorithm: AbstractAlgorithm) -> str | None:
    return algorithm.termination if isinstance(algorithm, AbstractModelBased) else None


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)
