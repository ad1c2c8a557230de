"""`countmorl train ALGORITHM DATA`: one command an algorithm, its config is its options."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np
import tyro
from tyro.conf import Positional

from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.count_morl import CountMORL
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.algorithms.presets import PAPER, PresetName, task_name
from countmorl.algorithms.presets import preset as find_preset
from countmorl.cli.output import print_json
from countmorl.counting.estimate import Kind
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.runs.folder import Run
from countmorl.training.options import DataOptions, RunOptions
from countmorl.training.stages import Interrupted
from countmorl.training.train import train

Flat = tyro.conf.arg(name="")


def _command(name: str, default: AbstractAlgorithm, made_for: str = "") -> Callable[..., int]:
    algorithm = ALGORITHMS[name]

    def command(
        data: Annotated[Positional[str], tyro.conf.arg(metavar="DATA")],
        *,
        config: Any,
        data_options: Annotated[DataOptions, Flat],
        options: Annotated[RunOptions, Flat],
        preset: PresetName = "default",
        model: Path | None = None,
        out: Path | None = None,
        json: bool = False,
    ) -> int:
        if preset != "default" and data != made_for:
            raise ConfigError(
                f"--preset {preset} was not found to be for '{data}'. Put DATA before the options."
            )
        if preset == "paper" and not json:
            print(f"Settings as published for {task_name(data, PAPER)}.", file=sys.stderr)
        settings = {"out": out, "data_options": data_options, "options": options}
        if model is not None and isinstance(config, AbstractModelBased) and config.model == fitted:
            # Nothing was said of the model, so the shared run's settings count.
            config = replace(config, model=EnsembleConfig())
        return finish(lambda: train(config, data, model=model, **settings), json)

    fitted = getattr(default, "model", None)
    command.__annotations__["config"] = Annotated[algorithm, Flat]
    command.__kwdefaults__ = {**(command.__kwdefaults__ or {}), "config": default}
    idea = inspect.cleandoc(inspect.getmodule(algorithm).__doc__ or "").replace("\n", "\n    ")
    command.__doc__ = f"""{idea}

    Args:
        data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file.
        preset: Where the defaults come from: {presets_of(algorithm)}.
        model: Another run on the same data, whose model (and codes, if fitted in the same way) is
            used again{"" if issubclass(algorithm, AbstractModelBased) else "; not by this one"}.
        out: Folder of the run; default runs/ALGORITHM-DATA-seedN.
        json: Print a JSON summary at the end; progress goes to standard error.
    """
    return command


def presets_of(algorithm: type[AbstractAlgorithm]) -> str:
    """Tell which presets an algorithm has, and whose settings they are."""
    if algorithm is CountMORL:
        return "default, paper (the paper's table), quick (minutes)"
    if algorithm.published:
        return f"default, paper (12 tasks of D4RL; {algorithm.published.source})"
    return "default alone here"


def finish(work: Callable[[], Run], json: bool) -> int:
    """Do the work, then say how it ended and where it lies."""
    try:
        run = work()
    except Interrupted as stop:
        print(f"{stop} Go on with: countmorl resume {stop.run.path}", file=sys.stderr)
        return 130
    summary = summarize(run)
    if json:
        print_json(summary)
        return 0
    if summary["score"] is not None:
        print(f"Last score {summary['score']:.1f} ± {summary['score_std']:.1f} (normalised).")
    elif summary["return"] is not None:
        print(f"Last return {summary['return']:.1f} ± {summary['return_std']:.1f}.")
    elif run.config["options"]["eval_every"]:
        print("Not simulated: no environment is known for this dataset (--task names one).")
    else:
        print("Not simulated, since --eval-every is 0.")
    if summary["updates_per_second"]:
        speed = f"{summary['updates_per_second']:.0f} updates/s"
        print(f"{speed} of the policy; {summary['compile_seconds']:.0f} s of compiling in all.")
    print(f"Run: {run.path}\nPolicy: {run.policy_path}")
    return 0


def summarize(run: Run) -> dict[str, Any]:
    """Return the last metrics and the last evaluation of a run."""
    metrics = run.metrics()
    judged = [record for record in metrics if "return" in record]
    last = judged[-1] if judged else {}
    keys = ("return", "return_std", "score", "score_std")
    timing = run.lines("timing.jsonl")
    policy = [line for line in timing if line.get("stage") == "policy"]
    speeds = [line["updates_per_second"] for line in policy if "updates_per_second" in line]
    return {
        "run": str(run.path),
        "policy": str(run.policy_path),
        "epoch": metrics[-1]["epoch"] if metrics else 0,
        "evaluated_epoch": last.get("epoch"),
        **{key: last.get(key) for key in keys},
        "updates_per_second": float(np.median(speeds)) if speeds else None,
        "compile_seconds": sum(line.get("compile_seconds", 0.0) for line in timing),
    }


def commands(arguments: list[str]) -> dict[str, Callable[..., int]]:
    """One command an algorithm; a preset among the arguments changes the defaults it shows."""
    defaults = {name: algorithm() for name, algorithm in ALGORITHMS.items()}
    wanted = "".join(arguments[1:2])
    preset_name = _choice("--preset", PresetName, arguments) or "default"
    has_preset = wanted in ALGORITHMS and preset_name != "default"
    data = _data_among(arguments[2:], wanted) if has_preset else ""
    if data:  # Without data the parser asks for it, or shows help.
        estimate, algorithm = _choice("--estimate", Kind, arguments), ALGORITHMS[wanted]
        defaults[wanted] = find_preset(preset_name, algorithm, data, estimate=estimate)
    return {f"train {name}": _command(name, default, data) for name, default in defaults.items()}


def _choice(option: str, choices: Any, arguments: list[str]) -> Any:
    """An option's value, which defaults depend on; None if it is not given, or is no choice."""
    given = None
    for argument, following in pairwise([*arguments, ""]):
        name, equals, value = argument.partition("=")
        if name == option:
            given = value if equals else following
    return given if given in get_args(choices) else None  # The parser says what is wrong.


def _data_among(arguments: list[str], name: str) -> str:
    """The argument that is no option, nor an option's value; presets depend on it.

    Some options take several values, so one that names a task of the paper goes first.
    """
    flags, before, found = {"--json", *_flags(ALGORITHMS[name]())}, "", []
    for argument in arguments:
        is_value = before.startswith("--") and "=" not in before and before not in flags
        if not (is_value or argument.startswith("-") or argument.replace(".", "").isdigit()):
            found.append(argument)
        before = argument
    return next((each for each in found if task_name(each, PAPER)), "".join(found[:1]))


def _flags(config: Any, prefix: str = "") -> list[str]:
    """Options of a config, and of those within it, that take no value."""
    found = []
    for field in fields(config):
        value, name = getattr(config, field.name), field.name.replace("_", "-")
        if is_dataclass(value):
            found += _flags(value, f"{prefix}{name}.")
        elif isinstance(value, bool):
            found += [f"--{prefix}{name}", f"--{prefix}no-{name}"]
    return found
