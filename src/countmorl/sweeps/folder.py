"""`SweepFolder`: where a plan's runs lie beside each other, with the plan itself.

sweep.json     the plan: every row as it was asked for
NAME/          one ordinary run folder for each row
logs/NAME.log  what the run's process said
failures.json  the sentence of every run that failed, until it is tried again
stop           is there while somebody asks the sweep to stop
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from countmorl.disk import explained_read, explained_write
from countmorl.errors import ConfigError, CountMorlError, RunError
from countmorl.files import write_text
from countmorl.json_files import parse_json
from countmorl.runs.folder import CONFIG, Run
from countmorl.runs.lock import LOCK, BusyError, hold_lock, is_locked
from countmorl.runs.place import refuse_links

PLAN, FAILURES, STOP, LOGS = "sweep.json", "failures.json", "stop", "logs"
FORMAT = 1
State = Literal["waiting", "running", "stopped", "finished", "failed"]


@dataclass(frozen=True)
class SweepFolder:
    """A sweep on disk. Reading it needs no more than this class, and no JAX."""

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> SweepFolder:
        """Open the folder of a sweep; anything else is a `RunError`."""
        folder = cls(Path(path))
        with explained_read(folder.path):
            if not folder.path.is_dir():
                raise RunError(f"There is no folder {path}.")
            if not folder.exists:
                raise RunError(f"{path} is not the folder of a sweep: it holds no {PLAN}.")
        return folder

    def rows(self) -> list[dict[str, Any]]:
        """The plan's rows, as they were asked for."""
        path = self.path / PLAN
        return parse_json(path, _is_plan, "the plan of a sweep")["rows"]

    @property
    def exists(self) -> bool:
        """Whether a plan is written down here."""
        return (self.path / PLAN).exists()

    @property
    def plan_name(self) -> str:
        """What the plan is called."""
        return parse_json(self.path / PLAN, _is_plan, "the plan of a sweep")["name"]

    def write_plan(self, name: str, rows: list[dict[str, Any]]) -> None:
        """Write the plan down, atomically."""
        text = json.dumps({"format": FORMAT, "name": name, "rows": rows}, indent=1)
        write_text(self.path / PLAN, text + "\n")

    def run_path(self, name: str) -> Path:
        """Where a row's run lies."""
        return self.path / name

    def log_path(self, name: str) -> Path:
        """Where a row's process writes what it says."""
        return self.path / LOGS / f"{name}.log"

    def failures(self) -> dict[str, str]:
        """The sentence of every run that failed, by its name."""
        path = self.path / FAILURES
        if not path.exists():
            return {}
        found = parse_json(path, lambda v: isinstance(v, dict), "the failures of a sweep")
        return {str(name): str(said) for name, said in found.items()}

    def note_failure(self, name: str, sentence: str | None) -> None:
        """Remember that a run failed, or with None that it is tried again."""
        failures = self.failures()
        before = dict(failures)
        failures.pop(name, None)
        if sentence is not None:
            failures[name] = sentence
        if failures != before:
            write_text(self.path / FAILURES, json.dumps(failures, indent=1) + "\n")

    def state(self, name: str) -> State:
        """How far a row is, as its folder tells."""
        path = self.run_path(name)
        if not (path / CONFIG).exists():
            return "failed" if name in self.failures() else "waiting"
        if is_locked(path):
            return "running"
        try:
            if Run.open(path).finished:
                return "finished"
        except CountMorlError:
            return "failed"
        return "failed" if name in self.failures() else "stopped"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep a second sweep out of this folder."""
        with explained_write(self.path / LOCK):
            self.path.mkdir(parents=True, exist_ok=True)
        refuse_links(self.path)
        with ExitStack() as stack:
            try:
                stack.enter_context(hold_lock(self.path))
            except BusyError as error:
                raise RunError(
                    f"Another sweep is running in {self.path}. `countmorl sweep status "
                    f"{self.path}` shows it, `countmorl sweep stop {self.path}` stops it."
                ) from error
            yield

    def ask_to_stop(self) -> None:
        """Ask whoever carries out this sweep to stop."""
        if not is_locked(self.path):
            raise ConfigError(f"No sweep is running in {self.path}.")
        write_text(self.path / STOP, "")

    @property
    def asked_to_stop(self) -> bool:
        """Whether somebody asks to stop."""
        return (self.path / STOP).exists()

    def forget_stop(self) -> None:
        """Take back what was asked: the sweep has stopped, or starts anew."""
        with suppress(FileNotFoundError):
            (self.path / STOP).unlink()


def _is_plan(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        return False
    rows = value.get("rows")
    return isinstance(value.get("name"), str) and isinstance(rows, list) and all(map(_is_row, rows))


def _is_row(row: Any) -> bool:
    """A row that names its folder, and no other place."""
    if not isinstance(row, dict):
        return False
    name = row.get("name")
    words = all(isinstance(row.get(key), str) for key in ("algorithm", "data"))
    return (
        words
        and isinstance(name, str)
        and Path(name).name == name != ".."
        and all(isinstance(row.get(key), dict) for key in ("config", "options"))
    )
