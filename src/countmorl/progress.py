"""Progress a person can read: a bar on a terminal, plain lines elsewhere, always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)


def duration(seconds: float) -> str:
    """Write a duration as 9 s, 4:05 or 2:04:05."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def number(value: float) -> str:
    """Write a metric in at most about seven characters."""
    return f"{value:.1f}" if 10 <= abs(value) < 1e5 else f"{value:.3g}"


@contextmanager
def _bar(label: str, done: int, total: int | None, *columns) -> Iterator[Callable[[int], None]]:
    console = Console(stderr=True)
    text = TextColumn("{task.description}")
    with Progress(text, *columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, completed=done, total=total)
        yield lambda amount: bar.advance(task, amount)


@contextmanager
def byte_progress(label: str, done: int, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a transfer; the value is called with the number of new bytes."""
    if not Console(stderr=True).is_terminal:
        size = f" of {total / 1e6:.0f} MB" if total else ""
        print(f"{label}: downloading{size}", file=sys.stderr, flush=True)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with _bar(label, done, total, *columns) as advance:
        yield advance


@contextmanager
def count_progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show steps done of `total`; elsewhere than on a terminal, a line every ten seconds."""
    start = last = time.monotonic()
    done = 0
    columns = (BarColumn(), TaskProgressColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with _bar(label, 0, total, *columns) as advance:

        def tell(amount: int) -> None:
            nonlocal done, last
            done += amount
            advance(amount)
            now = time.monotonic()
            if now - last > 10 and not Console(stderr=True).is_terminal:
                last = now
                left = (now - start) / done * (total - done)
                line = f"{label}: {done:,} of {total:,}, {duration(left)} left"
                print(line, file=sys.stderr, flush=True)

        yield tell


class EpochReport:
    """One line per epoch: progress, the numbers that matter, time left."""

    def __init__(self, stage: str, epochs: int, done: int, *, quiet: bool = False) -> None:
        self.stage, self.epochs, self.quiet = stage, epochs, quiet
        self.first, self.start = done, time.monotonic()
        self.console = Console(stderr=True)
        self.live = self.console.is_terminal and not quiet

    def __call__(self, epoch: int, metrics: dict[str, float]) -> None:
        """Report that `epoch` epochs are done."""
        if self.quiet:
            return
        spent = time.monotonic() - self.start
        each = spent / max(1, epoch - self.first)
        numbers = "  ".join(f"{k} {number(v)}" for k, v in metrics.items())
        left = duration(each * (self.epochs - epoch))
        width = len(str(self.epochs))
        line = f"{self.stage} {epoch:>{width}}/{self.epochs}  {numbers}  {left} left"
        keep = not self.live or "score" in metrics or "return" in metrics or epoch == self.epochs
        if self.live:
            self.console.file.write("\r\x1b[2K")
        print(line, file=sys.stderr, end="\n" if keep else "", flush=True)
