"""What the tests of sweeps share: small plans, and an engine that only pretends."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from countmorl import RunOptions
from countmorl.configs import to_json
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.sweeps.engine import AbstractEngine, Outcome
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.rows import Row
from small_runs import small, vector_log

OPTIONS = RunOptions(save_every=1, eval_every=0)


def write_log(path: Path, rows: int = 300) -> Path:
    """A log of so many steps."""
    arrays = vector_log()
    np.savez(path, **{k: v[:rows] if len(v) == 300 else v for k, v in arrays.items()})
    return path


def small_plan(tmp_path: Path, *names: str, seeds: int = 1, **changes) -> Sweep:
    """A plan of small runs on one small log."""
    log = write_log(tmp_path / "log.npz")
    methods = [small(name, **changes) for name in names or ("mopo", "bc")]
    return Sweep.of(methods, [log], seeds=seeds, options=OPTIONS)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a sweep that must be the same each time; where its data lie may differ.

    So may the digest of a config, which says where they lie.
    """
    here = str(folder.parent).encode()
    digest = re.compile(rb'"digest": "[0-9a-f]{64}"')
    return {
        str(path.relative_to(folder)): digest.sub(b"", path.read_bytes().replace(here, b"HERE"))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("timing.jsonl", ".lock") and path.suffix != ".log"
    }


def finish(folder: SweepFolder, row: Row) -> Run:
    """Make a row's run look as if it had been trained."""
    manifest = Manifest(algorithm=row.algorithm, config=to_json(row.config), options=row.options)
    run = Run.create(folder.run_path(row.name), manifest)
    run.append("metrics.jsonl", {"stage": "policy", "epoch": 1, "score": 12.5})
    last = {"model": "model", "codes": "codes"}.get(row.algorithm, "policy")
    run.save_result(last, {"done": np.ones(1)})
    return run


class Pretending(AbstractEngine):
    """Runs end in the order in which they were started, one at a `wait`."""

    def __init__(
        self,
        folder: SweepFolder,
        *,
        room: int = 2,
        outcomes: dict[str, list[str]] | None = None,
        at_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder, self.room, self.at_wait = folder, room, at_wait
        self.outcomes = outcomes or {}
        self.alive: list[Row] = []
        self.started: list[str] = []
        self.asked = self.killed = 0

    @property
    def running(self) -> list[str]:
        return [row.name for row in self.alive]

    def has_room(self, row: Row) -> bool:
        return len(self.alive) < self.room

    def start(self, row: Row) -> None:
        self.alive.append(row)
        self.started.append(row.name)

    def wait(self, seconds: float) -> list[Outcome]:
        self.at_wait()
        if not self.alive:
            return []
        row = self.alive.pop(0)
        said = self.outcomes.get(row.name, [])
        state = said.pop(0) if said else "stopped" if self.asked else "done"
        if state == "done":
            finish(self.folder, row)
        return [Outcome(name=row.name, state=state, sentence=f"It {state}.")]

    def ask_to_stop(self) -> None:
        self.asked += 1

    def kill(self) -> None:
        self.killed += 1
        self.alive.clear()


class Silent:
    """Remembers what a person would have been shown."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.closed = False

    def begin(self, finished: set[str]) -> None:
        self.lines.append(f"begin {len(finished)}")

    def tick(self, running: list[str]) -> None:
        """Nothing."""

    def ended(self, row: Row, outcome: Outcome) -> None:
        self.lines.append(f"{row.name}: {outcome.state}")

    def say(self, text: str) -> None:
        self.lines.append(text)

    def close(self) -> None:
        self.closed = True
