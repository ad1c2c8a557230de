"""Errors a user can act on. Each message says what was wanted, what was got and what to do."""

import difflib
import unicodedata
from collections.abc import Iterable
from pathlib import Path


class CountMorlError(Exception):
    """Base of every error that countmorl raises on purpose; the command line prints its message.

    Not a ValueError: the argument parser would catch those of nested settings and frame them.
    """


class DataError(CountMorlError):
    """A dataset, or a file that should hold one, cannot be used as it is."""


class ConfigError(CountMorlError):
    """A setting is out of range, or does not fit the dataset."""


class RunError(CountMorlError):
    """A run folder or one of its files is missing, damaged, or belongs to something else."""


class MissingExtraError(CountMorlError, ImportError):
    """An optional package is not installed."""


class Interrupted(Exception):
    """The user asked to stop; everything up to `epoch` is saved in `folder`."""

    def __init__(self, folder: Path, stage: str, epoch: int) -> None:
        super().__init__(f"Stopped after epoch {epoch} of stage {stage}; nothing is lost.")
        self.folder = folder


def printable(text: str) -> str:
    """Text of others, without what would make a terminal do things: escapes are shown as such."""
    return "".join(each if _is_harmless(each) else ascii(each)[1:-1] for each in text)


def _is_harmless(character: str) -> bool:
    return character in "\n\t" or not unicodedata.category(character).startswith("C")


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return " Did you mean 'x'?", or nothing where no choice is close to `word`."""
    lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    return f" Did you mean '{lower[close[0]]}'?" if close else ""
