"""`countmorl train METHOD DATA`: one command per method, its config is its options."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from countmorl import api
from countmorl.algorithms import ALGORITHMS, find_algorithm
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.algorithms.presets import PresetName, preset, presets_of
from countmorl.cli.help import HELP, print_listing, print_page
from countmorl.cli.output import Data, finish
from countmorl.cli.parse import first_sentence, parse, run_command
from countmorl.cli.train_others import OTHERS, Flat
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError, did_you_mean
from countmorl.runs.options import DataOptions, RunOptions

PROG = "countmorl train"
FIRST = ("preset", "out", "seed", "epochs")
"""Options that come first on every method's page; its own come behind them."""


def run(words: list[str]) -> int:
    """Train by the method that the first word names, or list the methods."""
    if not words or words[0] in HELP:
        own = {name: idea(cls) for name, cls in ALGORITHMS.items()}
        title = "Train a policy from a log. METHOD is one of:"
        listed = own | {name: first_sentence(other) for name, other in OTHERS.items()}
        listed |= {
            "module:Class": "A method of your own, as docs/extending.md builds one.",
        }
        foot = f"{PROG} METHOD --help tells its idea and explains its settings."
        print_listing(f"{PROG} METHOD DATA [OPTIONS]", title, listed, foot)
        return 0
    name, *rest = words
    prog = f"{PROG} {name}"
    if name in OTHERS:
        return run_command(OTHERS[name], rest, prog)
    if name not in ALGORITHMS and ":" not in name:
        known = [*ALGORITHMS, *OTHERS]
        raise ConfigError(
            f"There is no method '{name}'.{did_you_mean(name, known)} Known: {', '.join(known)}; "
            "or your own as module:Class."
        )
    algorithm = find_algorithm(name)
    default = _defaults(name, algorithm)
    if not set(HELP).isdisjoint(rest):
        print_page(_command(algorithm, default), prog, (*FIRST, *algorithm.first))
        return 0
    return _train(_parse(algorithm, rest, prog))


def idea(algorithm: type[AbstractAlgorithm]) -> str:
    """What a method does, in a line."""
    said = (algorithm.__doc__ or "").partition("\n")[0].split(": ", 1)[-1]
    return said[:1].upper() + said[1:]


def _defaults(name: str, algorithm: type[AbstractAlgorithm]) -> AbstractAlgorithm:
    try:
        return algorithm()
    except TypeError as error:  # A class of the user's own: abstract, or with settings to give.
        raise ConfigError(
            f"'{name}' cannot be trained by: {error}. Every setting needs a default, and every "
            "abstract method a body."
        ) from error


@dataclass(frozen=True, kw_only=True)
class Call:
    """What the words of a training say."""

    data: str
    config: Any
    data_options: DataOptions
    options: RunOptions
    preset: PresetName
    model: Path | None
    out: Path | None
    json: bool


def _parse(algorithm: type[AbstractAlgorithm], words: list[str], prog: str) -> Call:
    """Parse once for the data and the preset, then again with the preset as the default.

    Settings of a preset may depend on others that are given, as the paper's beta does on the
    estimate, so this goes on until nothing changes.
    """
    default = algorithm()
    call = parse(_command(algorithm, default), words, prog)
    if call.preset == "default":
        return _with_shared_model(call, default)
    default = preset(call.preset, algorithm, call.data)
    call = parse(_command(algorithm, default), words, prog)
    again = preset(call.preset, algorithm, call.data, chosen=call.config)
    if again != default:
        default = again
        call = parse(_command(algorithm, default), words, prog)
    if not call.json:
        print(f"Settings of the preset '{call.preset}' for {call.data}.", file=sys.stderr)
    return _with_shared_model(call, default)


def _with_shared_model(call: Call, default: AbstractAlgorithm) -> Call:
    """Where nothing was said of the model, the shared run's settings count."""
    config = call.config
    said = not isinstance(config, AbstractModelBased) or config.model != default.model  # type: ignore[attr-defined]
    if call.model is None or said:
        return call
    return replace(call, config=replace(config, model=EnsembleConfig()))


def _train(call: Call) -> int:
    return finish(
        lambda: api.train(
            call.config,
            call.data,
            out=call.out,
            data_options=call.data_options,
            options=call.options,
            model=call.model,
        ),
        call.json,
    )


def _command(algorithm: type[AbstractAlgorithm], default: AbstractAlgorithm) -> Callable[..., Call]:
    """A function whose options are the method's settings; it returns what was said."""

    def command(
        data: Data,
        *,
        config: Any,
        data_options: Annotated[DataOptions, Flat],
        options: Annotated[RunOptions, Flat],
        preset: PresetName = "default",
        model: Path | None = None,
        out: Path | None = None,
        json: bool = False,
    ) -> Call:
        return Call(
            data=data,
            config=config,
            data_options=data_options,
            options=options,
            preset=preset,
            model=model,
            out=out,
            json=json,
        )

    command = inspect.unwrap(command)  # Where types are checked, tyro would look past the wrapper.
    for name, useful in (
        ("model", issubclass(algorithm, AbstractModelBased)),
        ("preset", presets_of(algorithm) is not None),
    ):
        if not useful:
            _without(command, name)
    command.__annotations__["config"] = Annotated[algorithm, Flat]
    command.__kwdefaults__ = {**(command.__kwdefaults__ or {}), "config": default}
    about = inspect.getdoc(inspect.getmodule(algorithm)) or algorithm.__doc__ or ""
    command.__doc__ = f"""{about}

Args:
    data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file.
    preset: Where the defaults come from: {presets_of(algorithm)}.
    model: Another run on the same data, whose model (and codes, if fitted in the same way) is
        used again.
    out: Folder of the run; by default runs/METHOD-DATA-seedN.
    json: Print a JSON summary at the end; progress goes to standard error.
"""
    return command


def _without(command: Callable[..., Any], name: str) -> None:
    """Take an option away that a method has no use for."""
    signature = inspect.signature(command)
    kept = [each for each in signature.parameters.values() if each.name != name]
    command.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
