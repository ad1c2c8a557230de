"""Training the portfolio: a sweep that ends in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from countmorl.automatic.budget import TRAINING, Clock
from countmorl.automatic.folder import AutoFolder
from countmorl.errors import Interrupted
from countmorl.progress import duration
from countmorl.runs.folder import Run
from countmorl.sweeps.drive import Drive, Result
from countmorl.sweeps.engine import AbstractEngine, Outcome
from countmorl.sweeps.facts import DataFacts
from countmorl.sweeps.local import LocalEngine
from countmorl.sweeps.needs import memory_need
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.rows import Row
from countmorl.sweeps.watching import Lines, watcher_for

OFTEN = 10.0
"""Seconds between two notes of how long it has taken."""


@dataclass
class Timely:
    """Shows what another watcher shows, and asks all runs to stop when their time is over."""

    inner: Lines
    folder: AutoFolder
    clock: Clock
    note: Callable[[], None]
    """Keeps how long it has taken."""
    over: bool = False
    noted: float = 0.0

    def begin(self, finished: set[str]) -> None:
        """Pass it on."""
        self.inner.begin(finished)

    def tick(self, running: list[str]) -> None:
        """Look at the clock."""
        self.inner.tick(running)
        if self.clock.spent - self.noted > OFTEN:
            self.noted = self.clock.spent
            self.note()
        if not self.over and self.clock.left(TRAINING) <= 0:
            self.over = True
            self.say("The time for training is over: what has been learned so far is judged.")
            self.folder.runs.ask_to_stop()

    def ended(self, row: Row, outcome: Outcome) -> None:
        """Pass it on."""
        self.inner.ended(row, outcome)

    def say(self, text: str) -> None:
        """Pass it on."""
        self.inner.say(text)

    def close(self) -> None:
        """Pass it on."""
        self.inner.close()


def carry_out(
    plan: Sweep,
    folder: AutoFolder,
    facts: DataFacts,
    clock: Clock,
    *,
    workers: int,
    note: Callable[[], None],
) -> Result:
    """Train until all is done, or the time is over; `Interrupted` where a person stops it."""
    watcher = Timely(watcher_for(plan, folder.runs), folder, clock, note)
    watcher.say(f"training for up to {duration(max(0.0, clock.left(TRAINING)))}")
    result = Drive(plan, folder.runs, engine_for(folder, facts, workers), watcher)()
    if result.left and not watcher.over:
        raise Interrupted(folder.path, "runs", len(result.finished))
    return result


def engine_for(folder: AutoFolder, facts: DataFacts, workers: int) -> AbstractEngine:
    """Worker processes on this machine, one thread each."""
    return LocalEngine(
        folder.runs, workers=workers, need=lambda row: memory_need(row.config, facts)
    )


def policies_of(run: Run) -> dict[int, str]:
    """The files of a run's policies by epoch: those it kept, and where it was stopped, its last."""
    found = {epoch: str(path) for epoch, path in run.kept_policies().items()}
    records = run.records("policy")
    if not run.finished and records and run.policy_path.exists():
        found.setdefault(records[-1].epoch, str(run.policy_path))
    return found
