"""The engine for one machine: worker processes, one run and one thread each."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from countmorl.disk import appending
from countmorl.machine import available_memory
from countmorl.sweeps.engine import AbstractEngine, Outcome
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.rows import Row
from countmorl.sweeps.worker import command, environment

SPARED = 0.9
"""Share of the memory that is there at first which runs may take."""
TICK = 0.05
GIGABYTE = 1e9


class LocalEngine(AbstractEngine):
    """As many processes as there are workers, and no more than the memory can hold."""

    def __init__(
        self,
        folder: SweepFolder,
        *,
        workers: int,
        need: Callable[[Row], int],
        memory: int | None = None,
    ) -> None:
        self.folder, self.workers, self.need = folder, workers, need
        there = available_memory()
        self.memory = memory or (int(SPARED * there) if there is not None else None)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._needs: dict[str, int] = {}

    @property
    def running(self) -> list[str]:
        """The rows whose processes are alive."""
        return list(self._processes)

    def has_room(self, row: Row) -> bool:
        """A worker is free, and the memory of all of them is enough."""
        if len(self._processes) >= self.workers:
            return False
        return self.memory is None or sum(self._needs.values()) + self.need(row) <= self.memory

    def why_never(self, row: Row) -> str | None:
        """A run that is larger than the machine is not begun."""
        if self.memory is None or self.need(row) <= self.memory:
            return None
        need, there = self.need(row) / GIGABYTE, self.memory / GIGABYTE
        return (
            f"It needs about {need:.1f} GB of memory, and {there:.1f} GB are there for it. Fewer "
            "--branches or a smaller --retain need less; --memory says how many GB may be taken."
        )

    def start(self, row: Row) -> None:
        """Start a process, hand it its job, and keep the line to it open."""
        log = self.folder.log_path(row.name)
        with appending(log) as said:
            # In a session of its own: Ctrl-C is for the sweep, which passes it on once.
            process = subprocess.Popen(
                command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=environment(),
                start_new_session=True,
            )
        self._processes[row.name], self._needs[row.name] = process, self.need(row)
        assert process.stdin is not None
        job = {"row": row.as_dict(), "folder": str(self.folder.path)}
        with suppress(BrokenPipeError):  # It has died already; `wait` will say so.
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()

    def wait(self, seconds: float) -> list[Outcome]:
        """What has ended."""
        until = time.monotonic() + seconds
        while True:
            ended = [name for name, each in self._processes.items() if each.poll() is not None]
            if ended or time.monotonic() >= until:
                return [self._outcome(name) for name in ended]
            time.sleep(TICK)

    def _outcome(self, name: str) -> Outcome:
        process = self._processes.pop(name)
        del self._needs[name]
        said = process.stdout.read() if process.stdout else b""
        _close(process)
        return told(name, said, process.returncode)

    def ask_to_stop(self) -> None:
        """Send every process what a scheduler sends."""
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End every process, and wait until it has."""
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
            _close(process)
        self._processes.clear()
        self._needs.clear()


def _close(process: subprocess.Popen[bytes]) -> None:
    """Close the lines to a process that has ended."""
    for line in (process.stdin, process.stdout):
        if line is not None:
            with suppress(BrokenPipeError):
                line.close()


def told(name: str, said: bytes, code: int) -> Outcome:
    """The outcome that a worker printed; one that printed none was killed."""
    try:
        found: Any = json.loads(said.splitlines()[-1])
        return Outcome(name=name, state=found["state"], sentence=found["sentence"])
    except (IndexError, ValueError, KeyError, TypeError):
        return Outcome(name=name, state="lost", sentence=_ended(code))


def _ended(code: int) -> str:
    if code >= 0:
        return f"Its process ended with code {code} and said nothing."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    more = " The machine may have run out of memory." if -code == signal.SIGKILL else ""
    return f"Its process was ended by {name}.{more}"
