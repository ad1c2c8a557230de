"""The command line. It parses, calls one function, prints; the logic is elsewhere."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version

import tyro

from countmorl.errors import CountMorlError, did_you_mean

GROUPS = ("train", "data")
DESCRIPTION = """Learn a policy from logged data alone, and know where it leaves the data.

Start with `countmorl demo`, or: countmorl train bc DATA, countmorl evaluate RUN.
Any command takes --help. Errors end with exit code 2; --traceback shows where they arose."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        print(f"countmorl {version('countmorl')}")
        return 0
    show_traceback = "--traceback" in arguments
    arguments = [argument for argument in arguments if argument != "--traceback"]
    try:
        return _run(arguments)
    except SystemExit as stop:  # tyro's: 0 for --help, 2 for wrong arguments.
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # The reader of our output, such as `head`, has gone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except CountMorlError as error:
        if show_traceback:
            traceback.print_exc()
        else:
            print(f"countmorl: {error}", file=sys.stderr)
        return 2


def _run(arguments: list[str]) -> int:
    arguments, commands = _select(arguments)
    result = tyro.extras.subcommand_cli_from_dict(
        commands,
        prog="countmorl",
        description=DESCRIPTION,
        args=arguments,
        config=(tyro.conf.FlagCreatePairsOff,),
    )
    return int(result or 0)


def _select(arguments: list[str]) -> tuple[list[str], dict[str, Callable[..., int]]]:
    """Join `train bc` and `data info` to one name, and import only what that command needs."""
    group, given = arguments[0] if arguments else "", list(arguments)
    in_group = group in GROUPS and len(arguments) > 1 and not arguments[1].startswith("-")
    if in_group:
        arguments = [f"{group} {arguments[1]}", *arguments[2:]]
    elif group in GROUPS:
        arguments = arguments[1:] or ["--help"]
    commands = _commands(group, given)
    if arguments and not arguments[0].startswith("-") and arguments[0] not in commands:
        word = arguments[0]
        known = [*commands, *GROUPS]
        from countmorl.errors import ConfigError

        whole = f" Did you mean 'train {word}'?" if f"train {word}" in commands else ""
        raise ConfigError(
            f"There is no command '{word}'.{whole or did_you_mean(word, known)} "
            f"Known: {', '.join(commands)}."
        )
    return arguments or ["--help"], commands


def _commands(group: str, arguments: list[str]) -> dict[str, Callable[..., int]]:
    if group == "data":
        from countmorl.cli.data import COMMANDS

        return COMMANDS
    if group == "train":
        from countmorl.cli import tabular, train

        return {**train.commands(arguments), **tabular.TRAIN}
    from countmorl.cli import algorithms, data, gridworld, gridworld_counts, runs, tabular, train

    grids = gridworld_counts.COMMANDS | gridworld.COMMANDS
    parts = (algorithms.COMMANDS, tabular.COMMANDS, grids, runs.COMMANDS, data.COMMANDS)
    return train.commands([]) | {name: run for part in parts for name, run in part.items()}
