"""What a person sees of a sweep: a live table on a terminal, a line per finished run elsewhere."""

from __future__ import annotations

import sys
import time

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from countmorl.algorithms.model_alone import AbstractAlone, CodesAlone
from countmorl.configs import to_json
from countmorl.errors import CountMorlError
from countmorl.progress import duration, number
from countmorl.runs.folder import Run
from countmorl.runs.summary import summarize
from countmorl.sweeps.engine import Outcome
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.rows import Row
from countmorl.sweeps.standing import Standing, standing


class Lines:
    """One plain line per run that has ended, with what is left."""

    def __init__(self, plan: Sweep, folder: SweepFolder) -> None:
        self.rows = {row.name: row for row in plan.rows}
        self.folder, self.done = folder, 0
        self.start = time.monotonic()
        self._work = {row.name: _work(row) for row in plan.rows}
        self._did = self._had = 0.0

    @property
    def total(self) -> int:
        """Rows of the plan."""
        return len(self.rows)

    def begin(self, finished: set[str]) -> None:
        """Say how much there is to do."""
        self.done = len(finished)
        again = f", {self.done} of them finished before" if finished else ""
        self.say(f"{self.total} runs{again}. Folder: {self.folder.path}")
        self._had = sum(work for name, work in self._work.items() if name not in finished)

    def tick(self, running: list[str]) -> None:
        """Nothing: lines tell of ends alone."""

    def ended(self, row: Row, outcome: Outcome) -> None:
        """One line."""
        self.done += 1
        self._did += self._work[row.name]
        how = self._came(row) if outcome.state == "done" else f"failed: {outcome.sentence}"
        left = f", {duration(self.left())} left" if self.done < self.total else ""
        self.say(f"[{self.done}/{self.total}] {row.name}: {how}{left}")

    def _came(self, row: Row) -> str:
        try:
            facts = summarize(Run.open(self.folder.run_path(row.name)))
        except CountMorlError as error:  # It ended well, so this is somebody else's doing.
            return f"finished, but {error}"
        if facts.mean is None:
            return "finished"
        return f"{facts.measure} {number(facts.mean)} over the last {len(facts.values[-5:])}"

    def left(self) -> float:
        """Seconds left, if the rest goes as what was done."""
        spent = time.monotonic() - self.start
        return spent / max(self._did, 1e-9) * max(0.0, self._had - self._did)

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing is open."""


class LiveTable(Lines):
    """The runs that are under way, in a table that renews itself; ends are lines above it."""

    def __init__(self, plan: Sweep, folder: SweepFolder) -> None:
        super().__init__(plan, folder)
        self.console = Console(stderr=True)
        self.live = Live(console=self.console, auto_refresh=False, transient=True)

    def begin(self, finished: set[str]) -> None:
        """Open the table."""
        super().begin(finished)
        self.live.start()

    def tick(self, running: list[str]) -> None:
        """Renew it."""
        self.live.update(self.shown(running), refresh=True)

    def say(self, text: str) -> None:
        """Print above the table."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Take the table away."""
        self.live.stop()

    def shown(self, running: list[str]) -> Group:
        """The table and a line about the whole."""
        table = Table("run", "stage", "epoch", "score", "time left", box=None, pad_edge=False)
        for name in running:
            row = self.rows[name]
            at = standing(self.folder.run_path(name), to_json(row.config))
            table.add_row(Text(name), *cells(at))
        left = f", {duration(self.left())} left" if self._did else ""
        return Group(table, Text(f"{self.done} of {self.total} runs ended{left}"))


def cells(at: Standing | None) -> tuple[str, str, str, str]:
    """Stage, epoch, score and time left of a run, as a table shows them."""
    if at is None:
        return "starting", "", "", ""
    epoch = f"{at.epoch}/{at.epochs}" if at.epochs else str(at.epoch)
    score = "" if at.score is None else number(at.score)
    left = "" if at.seconds_left is None else duration(at.seconds_left)
    return at.stage, epoch, score, left


def _work(row: Row) -> int:
    """How much a row is to do, roughly: its epochs of updates."""
    config = row.config
    if isinstance(config, CodesAlone):
        return config.codes.fit_epochs * config.codes.fit_updates
    if isinstance(config, AbstractAlone):
        return config.model.max_epochs * config.model.least_steps
    return config.epochs * config.updates


def watcher_for(plan: Sweep, folder: SweepFolder) -> Lines:
    """A live table where a person looks at a terminal, else plain lines."""
    live = Console(stderr=True).is_terminal
    return LiveTable(plan, folder) if live else Lines(plan, folder)
