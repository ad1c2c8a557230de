"""From words to a call: tyro parses, and what it cannot parse ends in a sentence of ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import takewhile
from typing import Any, NoReturn

import tyro
from tyro import _errors as rejected  # Its hook for rejected words; pinned in pyproject.toml.

from countmorl.cli.help import HELP, Option, options_of, print_listing, print_page
from countmorl.errors import ConfigError, did_you_mean

Command = Callable[..., Any]


def run_command(command: Command, words: list[str], prog: str) -> int:
    """Parse the words of one command and run it, or print its help."""
    if not set(HELP).isdisjoint(words):
        print_page(command, prog)
        return 0
    return int(parse(command, words, prog) or 0)


def run_group(prog: str, title: str, commands: Mapping[str, Command], words: list[str]) -> int:
    """Run one command of a group, or list them."""
    if not words or words[0] in HELP:
        listed = {name: first_sentence(command) for name, command in commands.items()}
        print_listing(f"{prog} COMMAND ...", title, listed, f"{prog} COMMAND --help tells more.")
        return 0
    word, *rest = words
    if word not in commands:
        raise ConfigError(
            f"There is no command '{prog.removeprefix('countmorl ')} {word}'."
            f"{did_you_mean(word, commands)} Known: {', '.join(commands)}."
        )
    return run_command(commands[word], rest, f"{prog} {word}")


def parse(command: Command, words: list[str], prog: str) -> Any:
    """Call a command with what the words say; wrong ones are a `ConfigError`."""
    with _sentences(command, words, prog):
        return tyro.cli(command, args=words, prog=prog, add_help=False)


def first_sentence(command: Command) -> str:
    """What a command does, in a line."""
    text = " ".join((command.__doc__ or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.?!]) ", text)[0]


@contextmanager
def _sentences(command: Command, words: list[str], prog: str) -> Iterator[None]:
    """Turn what the parser rejects into one sentence with a suggestion."""

    def explain(event: rejected.ParseErrorEvent) -> NoReturn:
        raise ConfigError(_sentence(event, words, options_of(command), prog))

    with rejected.on_parse_error(explain):
        yield


def _sentence(
    event: rejected.ParseErrorEvent, words: list[str], options: list[Option], prog: str
) -> str:
    more = f"`{prog} --help` lists what there is."
    if isinstance(event, rejected.UnrecognizedArgs):
        return f"{_unknown(event.tokens[0], options, prog)} {more}"
    if missing := _missing(event, options):
        # An option that does not exist may have swallowed what stood behind it.
        strange = [w for w in words if w.startswith("--") and _dashed(w) not in _known(options)]
        said = _unknown(strange[0], options, prog) if strange else f"`{prog}` wants {missing}."
        return f"{said} {more}"
    argument = getattr(event, "argument", None)
    if argument is None:
        return f"{getattr(event, 'message', 'The words could not be read')}. {more}"
    name = str(argument.lowered.name_or_flags[0])
    wants = next((each.wants for each in options if each.name == name), "") or "a value"
    if isinstance(event, rejected.InvalidChoice):
        choices = wants.removesuffix(" ...").split("|")
        hint = did_you_mean(event.value, choices)
        return f"`{name}` must be one of {', '.join(choices)}; got '{event.value}'.{hint}"
    got = _behind(name, words, None if wants.endswith("...") else len(wants.split()))
    said = f"got '{got}'" if got else "and nothing stands behind it"
    return f"`{name}` wants {wants}, {said}. {more}"


def _missing(event: rejected.ParseErrorEvent, options: list[Option]) -> str:
    """What is to be said of positional arguments that were not found."""
    found = [getattr(event, "argument", None)]
    if isinstance(event, rejected.MissingArgs):
        found = [each.arg for each in event.missing_arguments]
    names = {str(each.lowered.metavar) for each in found if each and each.is_positional()}
    lacking = [option for option in options if option.name in names]
    return "; ".join(f"{option.name}: {option.about.rstrip('.')}" for option in lacking)


def _unknown(token: str, options: list[Option], prog: str) -> str:
    if not token.startswith("-"):
        return f"`{prog}` does not know what to do with '{token}'."
    name = _dashed(token)
    return f"`{prog}` has no option '{name}'.{did_you_mean(name, _known(options))}"


def _known(options: list[Option]) -> list[str]:
    """Every spelling that the help pages show."""
    known = [each.name for each in options if not each.positional]
    return known + [each.wants[2:] for each in options if each.wants.startswith("| ")]


def _dashed(word: str) -> str:
    """An option without its value, as the help pages spell it."""
    return word.split("=")[0].replace("_", "-")


def _behind(name: str, words: list[str], most: int | None) -> str:
    """What stands behind an option, up to the next one; of several such options the last counts."""
    found: list[str] = []
    for place, word in enumerate(words):
        if _dashed(word) == name:
            found = word.split("=")[1:] or words[place + 1 :]
    return " ".join(takewhile(lambda each: not each.startswith("--"), found[:most]))
