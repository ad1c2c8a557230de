"""The engine for a cluster: one Ray task for each row.

A task starts the same worker process as the local engine does, so the bytes are the same. Where
all nodes see the sweep's folder, runs are made in it and go on from it when a node is lost. Where
they do not, a task is sent what it needs, works in a folder of its node, and its files are brought
back when it ends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from countmorl.configs import at_least, check_types, positive
from countmorl.disk import appending, explained_write
from countmorl.errors import ConfigError
from countmorl.extras import require
from countmorl.runs.folder import CONFIG
from countmorl.runs.manifest import Manifest
from countmorl.sweeps.engine import AbstractEngine, Outcome
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.local import GIGABYTE, told
from countmorl.sweeps.rows import Row
from countmorl.sweeps.worker import command, environment

Files = dict[str, bytes]
Storage = Literal["auto", "shared", "returned"]
AHEAD = 2.0
"""Tasks that are handed to the cluster, in those that it can carry out at once."""
ANSWER = 5.0
"""Seconds in which a cluster must answer at all."""
PROBE = 60.0
"""Seconds in which every node must say whether it sees the folder."""


@dataclass(frozen=True, kw_only=True)
class RayOptions:
    """Which cluster, and what each run gets of it."""

    address: str = "auto"
    """auto for the cluster that this machine belongs to, or host:port."""
    cpus: int = 1
    """Cores of each run; its threads are as many."""
    gpus: float = 0.0
    """GPUs of each run, or the share of one."""
    storage: Storage = "auto"
    """shared: every node sees the sweep's folder. returned: files are brought back at the end."""

    def __post_init__(self) -> None:
        check_types(self)
        positive(self, "cpus")
        at_least(self, gpus=0)


class RayEngine(AbstractEngine):
    """Hands rows to a cluster, which decides where they run."""

    def __init__(
        self, folder: SweepFolder, *, need: Callable[[Row], int], options: RayOptions
    ) -> None:
        self.ray: Any = require("ray")
        self.folder, self.need, self.options = folder, need, options
        self._connect()
        resources = {"num_cpus": options.cpus, "num_gpus": options.gpus, "max_retries": 0}
        self._task = self.ray.remote(**resources)(work)
        self._tasks: dict[str, Any] = {}
        self._data: dict[str, Any] = {}
        self._most: float = max(
            (node["Resources"].get("memory", 0.0) for node in self._nodes()), default=0.0
        )
        self.shared = (
            self._is_shared() if options.storage == "auto" else options.storage == "shared"
        )

    def _connect(self) -> None:
        try:
            _knock(self.options.address)
            self.ray.init(
                address=self.options.address,
                log_to_driver=False,
                configure_logging=False,
                ignore_reinit_error=True,
            )
        except (RuntimeError, ValueError, OverflowError, OSError) as error:
            raise ConfigError(
                f"No Ray cluster answers at '{self.options.address}': {_first_line(error)} Start "
                "one with `ray start --head`, or name another with --address host:port."
            ) from error

    def _nodes(self) -> list[dict[str, Any]]:
        return [node for node in self.ray.nodes() if node["Alive"]]

    def _is_shared(self) -> bool:
        """Ask every node whether it sees a file that was just written."""
        strategy = require("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        token = self.folder.path.resolve() / f".probe-{uuid.uuid4().hex}"
        with explained_write(token):
            token.parent.mkdir(parents=True, exist_ok=True)
            token.touch()
        try:
            look = self.ray.remote(num_cpus=0, max_retries=0)(os.path.exists)
            asked = [
                look.options(
                    scheduling_strategy=strategy(node_id=node["NodeID"], soft=False)
                ).remote(str(token))
                for node in self._nodes()
            ]
            done, _ = self.ray.wait(asked, num_returns=len(asked), timeout=PROBE)
            return len(done) == len(asked) and all(self.ray.get(done))
        finally:
            token.unlink(missing_ok=True)

    @property
    def running(self) -> list[str]:
        """The rows that the cluster has."""
        return list(self._tasks)

    def has_room(self, row: Row) -> bool:
        """The cluster is handed somewhat more than it can do at once, not everything."""
        at_once = self.ray.cluster_resources().get("CPU", 1.0) / self.options.cpus
        return len(self._tasks) < max(1.0, AHEAD * at_once)

    def why_never(self, row: Row) -> str | None:
        """A run that is larger than every node would wait for ever."""
        if self.need(row) <= self._most:
            return None
        need, there = self.need(row) / GIGABYTE, self._most / GIGABYTE
        return f"It needs about {need:.1f} GB of memory, and the largest node has {there:.1f} GB."

    def start(self, row: Row) -> None:
        """Hand a row to the cluster."""
        job = {
            "row": row.as_dict(),
            "folder": str(self.folder.path.resolve()),
            "cwd": os.getcwd(),
            "threads": self.options.cpus,
            "shared": self.shared,
        }
        data, files = (None, {}) if self.shared else (self._sent(row.data), self._files(row))
        task = self._task.options(memory=self.need(row), name=row.name)
        self._tasks[row.name] = task.remote(job, data, files)

    def _sent(self, source: str) -> Any:
        """A data file, in the cluster's own memory once for all rows; names are fetched there."""
        if not Path(source).exists():
            return None
        if source not in self._data:
            self._data[source] = self.ray.put(Path(source).read_bytes())
        return self._data[source]

    def _files(self, row: Row) -> dict[str, Files]:
        """What is there of the row's run, and of the one whose model it uses."""
        names = [row.name, *([row.model] if row.model else [])]
        return {name: files_in(self.folder.run_path(name)) for name in names}

    def wait(self, seconds: float) -> list[Outcome]:
        """What has ended."""
        if not self._tasks:
            return []
        refs = {ref: name for name, ref in self._tasks.items()}
        first, rest = self.ray.wait(list(refs), num_returns=1, timeout=seconds)
        more, _ = (
            self.ray.wait(rest, num_returns=len(rest), timeout=0) if first and rest else ([], [])
        )
        return [self._outcome(refs[ref], ref) for ref in [*first, *more]]

    def _outcome(self, name: str, ref: Any) -> Outcome:
        del self._tasks[name]
        errors = self.ray.exceptions
        try:
            said, code, files = self.ray.get(ref)
        except (errors.TaskCancelledError, errors.RayTaskError) as error:
            stopped = isinstance(error, errors.TaskCancelledError)
            state = "stopped" if stopped else "failed"
            return Outcome(name=name, state=state, sentence=_first_line(error))
        except errors.RayError as error:  # The node, or the process on it, has gone.
            return Outcome(name=name, state="lost", sentence=_first_line(error))
        for each, content in files.items():
            bring_back(self.folder.path, each, content)
        return told(name, said, code)

    def ask_to_stop(self) -> None:
        """Take back what waits, let what runs finish its epoch and save."""
        for ref in self._tasks.values():
            self.ray.cancel(ref, force=False)

    def kill(self) -> None:
        """End every task at once."""
        for ref in self._tasks.values():
            self.ray.cancel(ref, force=True)
        self._tasks.clear()


def _knock(address: str) -> None:
    """Ask whether anybody answers there; Ray itself would ask for minutes."""
    if address in ("auto", "local"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise ConfigError(f"`address` must be auto or host:port, got '{address}'.")
    socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER).close()


def work(job: dict[str, Any], data: bytes | None, files: dict[str, Files]) -> tuple:
    """What a node does: the worker's process, here or in a folder of the node.

    Returns what the worker printed, its exit code, and the files to bring back.
    """
    if job["shared"]:
        log = Path(job["folder"]) / "logs" / f"{job['row']['name']}.log"
        return *_worker(job, log), {}
    with tempfile.TemporaryDirectory(prefix="countmorl-") as name:
        folder = Path(name)
        for run, contents in files.items():
            for each, content in contents.items():
                bring_back(folder, f"{run}/{each}", content)
        row = dict(job["row"])
        if data is not None:
            row["data"] = str(folder / Path(row["data"]).name)
            Path(row["data"]).write_bytes(data)
        log = folder / "logs" / f"{row['name']}.log"
        said, code = _worker(job | {"row": row, "folder": name}, log)
        _name_source(folder / row["name"], job["row"]["data"])
        made = {f"{row['name']}/{k}": v for k, v in files_in(folder / row["name"]).items()}
        return said, code, made | {f"logs/{log.name}": log.read_bytes()}


def _worker(job: dict[str, Any], log: Path) -> tuple[bytes, int]:
    here = job["cwd"] if os.path.isdir(job["cwd"]) else None
    with (
        appending(log) as said,
        subprocess.Popen(
            command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=environment(job["threads"]),
            cwd=here,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
        try:
            out = process.stdout.read()
        except KeyboardInterrupt:  # The task was cancelled.
            process.send_signal(signal.SIGTERM)
            out = process.stdout.read()
        return out, process.wait()


def _name_source(run: Path, source: str) -> None:
    """Let a run say where its data lie at home, not where they lay on the node."""
    if (run / CONFIG).exists():
        manifest = Manifest.read(run / CONFIG)
        if manifest.data is not None:
            origin = replace(manifest.data, source=source)
            replace(manifest, data=origin).write(run / CONFIG)


def files_in(folder: Path) -> Files:
    """Every file of a run by its place in it; nothing where there is no run."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def bring_back(folder: Path, name: str, content: bytes) -> None:
    """Write a file of another machine below a folder, and nowhere else."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ConfigError(f"A node sent a file for {name}, which is not within {folder}.")
    with explained_write(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _first_line(error: BaseException) -> str:
    """The first sentence of what Ray says, which may go on for pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0].partition(". ")[0] if lines else type(error).__name__
    return said if said.endswith(".") else f"{said}."
