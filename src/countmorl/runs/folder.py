"""`Run`: one folder that holds everything about one training.

config.json         the whole config, versions, the dataset's source and hash
metrics.jsonl       one line an epoch; the same bytes for the same run on the same machine
timing.jsonl        one line an epoch: seconds, updates per second (never the same twice)
checkpoint.safetensors   everything needed to go on exactly
stages/NAME.safetensors  what a finished stage left: the model, the codes
policy.safetensors       the policy, for `countmorl.Policy.load`
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countmorl.errors import RunError
from countmorl.files import (
    Arrays,
    explained_write,
    parse_json,
    read_arrays,
    write_arrays,
    write_text,
)
from countmorl.runtime.policy import POLICY_FILE

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind; runs are not locked there.
    fcntl = None

FORMAT = 1


@dataclass(frozen=True)
class Run:
    """A run folder. Reading needs no more than this class."""

    path: Path

    @classmethod
    def create(cls, path: str | Path, config: Mapping[str, Any]) -> Run:
        """Make a new folder and write its config; an existing folder is never touched."""
        run = cls(Path(path))
        if run.path.exists() and not run._is_blank():
            raise RunError(
                f"{path} exists already. Go on with it by `countmorl resume {path}`, or choose "
                "another folder with --out."
            )
        text = json.dumps({"format": FORMAT, **config}, indent=2, sort_keys=True)
        with explained_write(run.path):
            write_text(run.path / "config.json", text + "\n")
        return run

    def discard_unbegun(self) -> None:
        """Remove the folder where no epoch has been recorded: nothing is lost."""
        if not self.metrics_size and not self.checkpoint_path.exists():
            shutil.rmtree(self.path, ignore_errors=True)

    def _is_blank(self) -> bool:
        """Tell whether the folder is empty but for what a kill before the first file leaves."""
        return self.path.is_dir() and all(p.suffix == ".tmp" for p in self.path.iterdir())

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open an existing run folder; anything else is a `RunError`."""
        run = cls(Path(path))
        if not run.path.is_dir():
            raise RunError(f"There is no run folder {path}.")
        if not (run.path / "config.json").exists():
            raise RunError(f"{path} is not a run folder: it holds no config.json.")
        form, versions = run.config.get("format"), run.config.get("versions")
        if form != FORMAT:
            by = versions.get("countmorl", "?") if isinstance(versions, dict) else versions
            raise RunError(
                f"{path} was written in format {form}, this version reads format {FORMAT}. "
                f"It was made by countmorl {by}; use that version."
            )
        return run

    @property
    def config(self) -> dict[str, Any]:
        """The run's config.json."""
        wanted = "the config of a run"
        return parse_json(self.path / "config.json", lambda v: isinstance(v, dict), wanted)

    @property
    def policy_path(self) -> Path:
        """Where the policy lies."""
        return self.path / POLICY_FILE

    @property
    def checkpoint_path(self) -> Path:
        """Where the checkpoint lies."""
        return self.path / "checkpoint.safetensors"

    @property
    def metrics_path(self) -> Path:
        """Where the metrics lie."""
        return self.path / "metrics.jsonl"

    def metrics(self) -> list[dict[str, Any]]:
        """Every recorded epoch, in order."""
        return self.lines(self.metrics_path.name)

    def lines(self, file_name: str) -> list[dict[str, Any]]:
        """Every record of a JSON-lines file; an unfinished last line is passed over."""
        path = self.path / file_name
        if not path.exists():
            return []
        lines = path.read_bytes().split(b"\n")[:-1]
        try:
            return [json.loads(line) for line in lines]
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise RunError(f"{path} is damaged: {error}.") from error

    def append(self, file_name: str, record: Mapping[str, Any]) -> None:
        """Add one line to a JSON-lines file of the run and flush it."""
        path = self.path / file_name
        with explained_write(path), open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())

    @property
    def metrics_size(self) -> int:
        """How many bytes of metrics there are."""
        return self.metrics_path.stat().st_size if self.metrics_path.exists() else 0

    def result_path(self, stage: str) -> Path:
        """Where a finished stage's result lies."""
        return self.path / "stages" / f"{stage}.safetensors"

    def save_result(self, stage: str, arrays: Arrays, **meta: Any) -> None:
        """Keep what a finished stage leaves behind."""
        about = {"kind": "result", "stage": stage, "metrics_size": self.metrics_size, **meta}
        write_arrays(self.result_path(stage), arrays, about)

    def load_result(self, stage: str) -> tuple[Arrays, dict[str, Any]] | None:
        """Return a finished stage's result, or nothing where it is not finished."""
        if not self.result_path(stage).exists():
            return None
        arrays, meta = read_arrays(self.result_path(stage))
        if meta.get("kind") != "result" or meta.get("stage") != stage:
            raise RunError(f"{self.result_path(stage)} is not the result of stage {stage}.")
        return arrays, meta

    def save_checkpoint(self, arrays: Arrays, meta: Mapping[str, Any]) -> None:
        """Replace the checkpoint; it remembers how long the metrics were at this moment."""
        about = {"kind": "checkpoint", "metrics_size": self.metrics_size, **meta}
        write_arrays(self.checkpoint_path, arrays, about)

    def load_checkpoint(self) -> tuple[Arrays, dict[str, Any]] | None:
        """Return the checkpoint, or nothing where the run was stopped before its first."""
        if not self.checkpoint_path.exists():
            return None
        arrays, meta = read_arrays(self.checkpoint_path)
        if meta.get("kind") != "checkpoint":
            raise RunError(f"{self.checkpoint_path} is not a checkpoint.")
        return arrays, meta

    def rewind(self, metrics_size: int) -> None:
        """Cut the metrics back to where the checkpoint was taken."""
        size = self.metrics_size
        if size < metrics_size:
            raise RunError(
                f"{self.metrics_path} is shorter than when the checkpoint was saved, so the run "
                "cannot be continued exactly. Restore the file from a copy, or start a new run."
            )
        if size > metrics_size:
            with open(self.metrics_path, "rb+") as file:
                file.truncate(metrics_size)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from training in this folder at the same time."""
        if fcntl is None:
            yield
            return
        with open(self.path / ".lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise RunError(
                    f"Another process is training in {self.path}. Wait for it, or stop it first."
                ) from error
            yield
