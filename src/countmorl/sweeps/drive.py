"""Carrying out a plan: what may start, what has ended, what is left; the same for every engine."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from countmorl.errors import ConfigError, CountMorlError
from countmorl.runs.folder import CONFIG, Run
from countmorl.runs.place import drop_leftovers
from countmorl.sweeps.engine import AbstractEngine, Outcome
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.rows import Row, check_same, differences

TRIES = 3
"""Times that a run is begun, or gone on with, before one that is killed each time has failed."""
WAIT = 0.5
POLITE = (signal.SIGINT, signal.SIGTERM)


@runtime_checkable
class Watcher(Protocol):
    """Shows a person what happens."""

    def begin(self, finished: set[str]) -> None:
        """The sweep starts; these of its rows had ended before."""

    def tick(self, running: list[str]) -> None:
        """A moment has passed; these rows are under way."""

    def ended(self, row: Row, outcome: Outcome) -> None:
        """A row's run has ended."""

    def say(self, text: str) -> None:
        """Something else that a person should know."""

    def close(self) -> None:
        """The sweep has ended."""


@dataclass
class Result:
    """What became of a plan's rows."""

    finished: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    """The sentence of each run that failed."""
    left: list[str] = field(default_factory=list)
    """Rows that were stopped, or never begun."""

    @property
    def complete(self) -> bool:
        """Whether every row has ended well."""
        return not self.failed and not self.left


def write_down(plan: Sweep, folder: SweepFolder) -> None:
    """Keep the plan in its folder; one that is there may grow, and never changes."""
    new = {row.name: row.as_dict() for row in plan.rows}
    known = {row["name"]: row for row in folder.rows()} if folder.exists else {}
    for name in new.keys() & known.keys():
        if changed := differences(known[name], new[name]):
            raise ConfigError(
                f"{folder.path} holds another sweep: its '{name}' differs in "
                f"{', '.join(changed[:4])}. Choose another folder with --out, or repeat the "
                "command that began it."
            )
    folder.write_plan(plan.name, list((known | new).values()))


class Drive:
    """One carrying-out of a plan."""

    def __init__(
        self, plan: Sweep, folder: SweepFolder, engine: AbstractEngine, watcher: Watcher
    ) -> None:
        self.plan, self.folder, self.engine, self.watcher = plan, folder, engine, watcher
        self.rows = {row.name: row for row in plan.rows}
        self.waiting: dict[str, Row] = {}
        self.tries: Counter[str] = Counter()
        self.result = Result()
        self.stop, self.at_once = threading.Event(), threading.Event()

    def __call__(self) -> Result:
        """Carry out what is not done yet. What was done before is not touched."""
        with self.folder.lock():
            drop_leftovers(self.folder.path)
            self.folder.forget_stop()
            write_down(self.plan, self.folder)
            self._look()
            self.watcher.begin(set(self.result.finished))
            with self._signals():
                try:
                    self._loop()
                finally:
                    self.engine.kill()  # Nothing is alive here, unless the sweep itself failed.
                    self.watcher.close()
            self.folder.forget_stop()
        self.result.left += list(self.waiting)
        return self.result

    def _look(self) -> None:
        """Sort the rows into those that have ended and those that have not."""
        for row in self.plan.rows:
            if self._has_ended(row):
                self.result.finished.add(row.name)
                self.folder.note_failure(row.name, None)
            else:
                self.waiting[row.name] = row

    def _has_ended(self, row: Row) -> bool:
        path = self.folder.run_path(row.name)
        if not (path / CONFIG).exists():
            return False
        try:
            run = Run.open(path)
            check_same(row, run.manifest)
            return run.finished
        except ConfigError:
            raise
        except CountMorlError:
            return False  # A damaged run: its worker says what is wrong with it.

    def _loop(self) -> None:
        asked = False
        while self.waiting or self.engine.running:
            if self.folder.asked_to_stop:
                self.stop.set()
            if self.stop.is_set() and not asked:
                asked = True
                self.watcher.say("Stopping: every run finishes its epoch and saves.")
                self.engine.ask_to_stop()
            if self.at_once.is_set():
                self.waiting |= {name: self.rows[name] for name in self.engine.running}
                self.engine.kill()
                break
            if not self.stop.is_set():
                self._start()
            elif not self.engine.running:
                break
            for outcome in self.engine.wait(WAIT):
                self._take(outcome)
            self.watcher.tick(self.engine.running)

    def _start(self) -> None:
        for row in list(self.waiting.values()):
            if row.model in self.result.failed:
                self._fail(row, f"Not begun, since {row.model}, whose model it uses, failed.")
            elif row.model is None or row.model in self.result.finished:
                if why := self.engine.why_never(row):
                    self._fail(row, why)
                elif self.engine.has_room(row):
                    del self.waiting[row.name]
                    self.tries[row.name] += 1
                    self.folder.note_failure(row.name, None)
                    self.engine.start(row)

    def _fail(self, row: Row, sentence: str) -> None:
        self.waiting.pop(row.name, None)
        self.result.failed[row.name] = sentence
        self.folder.note_failure(row.name, sentence)
        self.watcher.ended(row, Outcome(name=row.name, state="failed", sentence=sentence))

    def _take(self, outcome: Outcome) -> None:
        row = self.rows[outcome.name]
        if outcome.state == "done":
            self.result.finished.add(row.name)
            self.watcher.ended(row, outcome)
        elif outcome.state == "failed":
            self._fail(row, outcome.sentence)
        elif self.stop.is_set():
            self.waiting[row.name] = row
        elif self.tries[row.name] < TRIES:
            self.waiting = {row.name: row} | self.waiting
            self.watcher.say(f"{row.name}: {outcome.sentence} It goes on.")
        else:
            self._fail(row, f"{outcome.sentence} It was tried {TRIES} times.")

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """The first Ctrl-C or SIGTERM lets runs save, a second ends them at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ask(*_: object) -> None:
            (self.at_once if self.stop.is_set() else self.stop).set()

        before = {number: signal.signal(number, ask) for number in POLITE}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
