"""The command line. It parses, calls one function, prints; the logic is elsewhere."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version

from countmorl.cli.help import HELP, print_listing
from countmorl.cli.parse import run_command, run_group
from countmorl.errors import ConfigError, CountMorlError, did_you_mean, printable
from countmorl.machine import explained_memory
from countmorl.threads import take_those_of_a_run


@dataclass(frozen=True)
class Entry:
    """A word that may follow `countmorl`, and the module that is imported when it does.

    A group has a table COMMANDS there, a command is a function of its own name.
    """

    usage: str
    about: str
    is_group: bool = False


ENTRIES: dict[str, Entry] = {
    "auto": Entry("DATA", "From a log to a policy shown to be better, or to none."),
    "train": Entry("METHOD DATA", "Train a policy from a log by one of ten methods.", True),
    "sweep": Entry("PLAN", "Many runs at once: the paper's tables, or your own plan.", True),
    "resume": Entry("RUN", "Go on with a stopped run, or train a finished one on."),
    "evaluate": Entry("RUN", "Play episodes with a run's policy and print its score."),
    "judge": Entry("RUN ...", "Say by the log alone whether policies are better than it."),
    "choose": Entry("RUN ...", "Take the policy shown to be best, or a clone of the log."),
    "export": Entry("RUN -o DIR", "Policy, counts, guard and contract as one folder."),
    "serve": Entry("DIR", "Answer requests for actions over HTTP, with their counts."),
    "monitor": Entry("DIR LOG", "Say whether today's log is still like the training's."),
    "count": Entry("RUN DATA", "Count how often a run's data hold the pairs of a log."),
    "counts": Entry("...", "Count new logs without a training; add up counts of sites.", True),
    "coverage": Entry("RUN|DATA", "Where a log is thin, where a policy goes, what to log next."),
    "guard": Entry("RUN", "Choose below which count a fall-back acts instead."),
    "calibration": Entry("RUN", "Show whether a run's counts predict its model's error."),
    "compare": Entry("RUN ...", "Put runs side by side: settings that differ, scores, speed."),
    "report": Entry("RUN ...", "Tables, curves and statistics of many runs on one page."),
    "figures": Entry("RUN", "Draw a run's learning curve, coverage and calibration."),
    "methods": Entry("", "List the methods: what each does and whose it is."),
    "data": Entry("...", "Import, look at, check, download, convert and collect logs.", True),
    "study": Entry("...", "Grid worlds and theorems: evidence about the method itself.", True),
    "demo": Entry("", "Count-MORL on data that ships with the package, in minutes."),
    "doctor": Entry("", "Say what is installed, and whether a small training works."),
}
TITLE = "Learn a policy from logged data alone, and know where it leaves the data."
FOOT = """Start with `countmorl demo`. All take --help, most --json, this one --version.
A mistake ends in one sentence and exit code 2; --traceback shows where it was."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        print(f"countmorl {version('countmorl')}")
        return 0
    if argv is None and arguments[:1] != ["sweep"]:  # A sweep has processes to stop first.
        _hear_signals()
    show_traceback = "--traceback" in arguments
    arguments = [argument for argument in arguments if argument != "--traceback"]
    try:
        with explained_memory():
            return _run(arguments)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        if argv is None:
            _leave(130)
        return 130
    except BrokenPipeError:  # The reader of our output, such as `head`, has gone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (CountMorlError, OSError) as error:
        if show_traceback:
            traceback.print_exc()
        else:
            said = _refused(error) if isinstance(error, OSError) else str(error)
            print(f"countmorl: {printable(said)}", file=sys.stderr)
        return 2


def _refused(error: OSError) -> str:
    """What the operating system refused, where nothing nearer has said so."""
    what = f"{error.filename} could not be used" if error.filename else "The system refused a call"
    return f"{what} ({error.strerror or error}). Check the path and its permissions."


def _hear_signals() -> None:
    """End this process at once when it is asked to stop a second time.

    While XLA calculates, Python itself hears nothing: the second Ctrl-C would wait for the end of
    the epoch as the first one does. A thread is told of signals at all times.
    """
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)

    def watch() -> None:
        heard = 0
        while number := os.read(told, 1):
            heard += number[0] in (signal.SIGINT, signal.SIGTERM)
            if heard == 2:
                print("Stopped.", file=sys.stderr)
                _leave(130)

    threading.Thread(target=watch, daemon=True).start()


def _leave(code: int) -> None:
    """End this process now: its end would wait for what XLA is still calculating."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _run(arguments: list[str]) -> int:
    """Follow the first word; what comes after it is parsed by tyro.

    Not by tyro's nested subcommands: it asks every one for its options, and so would import JAX
    before `countmorl data list` could answer.
    """
    if not arguments or arguments[0] in HELP:
        listed = {f"{name} {entry.usage}": entry.about for name, entry in ENTRIES.items()}
        print_listing("countmorl COMMAND ...", TITLE, listed, FOOT)
        return 0
    word, *rest = arguments
    if word not in ENTRIES:
        raise ConfigError(_unknown(word))
    if word == "resume":  # Before JAX is imported, which takes threads as it starts.
        take_those_of_a_run(rest)
    module = importlib.import_module(f"countmorl.cli.{word}")
    if word in ("train", "sweep"):
        return module.run(rest)
    if ENTRIES[word].is_group:
        return run_group(f"countmorl {word}", ENTRIES[word].about, module.COMMANDS, rest)
    return run_command(getattr(module, word), rest, f"countmorl {word}")


def _unknown(word: str) -> str:
    hint = did_you_mean(word, ENTRIES)
    if not word.startswith("-"):
        from countmorl.algorithms import ALGORITHMS

        hint = f" Did you mean 'train {word}'?" if word in ALGORITHMS else hint
    return f"There is no command '{word}'.{hint} Known: {', '.join(ENTRIES)}."
