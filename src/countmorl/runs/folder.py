"""`Run`: one folder that holds everything about one training.

config.json         the manifest: the whole config, versions, the dataset's source and hash
metrics.jsonl       one line per epoch; the same bytes for the same run on the same machine
timing.jsonl        one line per epoch: seconds, updates per second (never the same twice)
checkpoint.safetensors   everything needed to go on exactly
stages/NAME.safetensors  what a finished stage left: the model, the codes
policy.safetensors       the policy, for `countmorl.load_policy`
policies/epoch-N.safetensors   the policies of the last evaluations, to choose from
judgement.json      what `countmorl judge` said of the policy, where it was asked
coverage.json       where `countmorl coverage` found the policy to go
card.json           what the log is and what a monitor compares with, for `countmorl report`
guard/              below which count a fall-back acts, by `countmorl guard`
choice.json         what `countmorl choose` took among its policies and others'
calibration.json    whether counts predict the model's error, in runs that count
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.disk import append, explained_read, explained_write, read_bytes, truncate
from countmorl.errors import CountMorlError, RunError
from countmorl.files import Arrays, read_arrays, write_arrays
from countmorl.json_files import MOST_OF_LINES, parse_lines, parse_text
from countmorl.runs.calibration import Calibration
from countmorl.runs.lock import hold_lock
from countmorl.runs.manifest import Manifest
from countmorl.runs.place import claim, discard, drop_leftovers, refuse_links
from countmorl.runs.records import Record, Timing
from countmorl.runtime.files import POLICY_FILE

CONFIG, METRICS, TIMING = "config.json", "metrics.jsonl", "timing.jsonl"
NEWLINE = ord("\n")
LAST_STAGES = ("policy", "plan")
"""The stages whose result is what a training was made for."""
OTHER_LAST = {"model": "model", "codes": "codes", "recipe": "data"}
"""The same of runs that train no policy."""


@dataclass(frozen=True)
class Run:
    """A run folder. Reading needs no more than this class."""

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))  # A folder's name will do.

    @classmethod
    def create(cls, path: str | Path, manifest: Manifest) -> Run:
        """Make a new folder and write its manifest; an existing folder is never touched."""
        with cls.begin(path, manifest) as run:
            return run

    @classmethod
    @contextmanager
    def begin(cls, path: str | Path, manifest: Manifest) -> Iterator[Run]:
        """Make a new run and keep others out of it; what fails before its first epoch is removed.

        Of two processes that begin the same run one has the lock, and the other is told so: it
        has made nothing and removes nothing.
        """
        run = cls(Path(path))
        made = claim(run.path)
        with run.lock():
            claim(run.path)  # Another process may have had the lock, and been done.
            manifest.write(run.path / CONFIG)
            try:
                yield run
            except CountMorlError:
                if not run.metrics_size and not run.checkpoint_path.exists():
                    discard(run.path, made=made)  # Or the corrected command finds it taken.
                raise

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open an existing run folder; anything else is a `RunError`."""
        run = cls(Path(path))
        with explained_read(run.path):
            if not run.path.is_dir():
                raise RunError(f"There is no run folder {path}.")
            if not (run.path / CONFIG).exists():
                raise RunError(f"{path} is not a run folder: it holds no {CONFIG}.")
        refuse_links(run.path)
        run.manifest  # noqa: B018  (says what is wrong with it)
        return run

    @property
    def manifest(self) -> Manifest:
        """What was asked for."""
        return Manifest.read(self.path / CONFIG)

    def trained_on(self, manifest: Manifest) -> None:
        """Let a run that has ended go on: its last result is dropped, its manifest replaced."""
        # In this order: killed in between, the run ends again as it had ended before.
        with explained_write(self.path):
            for stage in LAST_STAGES:
                self.result_path(stage).unlink(missing_ok=True)
        manifest.write(self.path / CONFIG)

    @property
    def finished(self) -> bool:
        """Whether everything that was asked for is there."""
        other = OTHER_LAST.get(self.manifest.algorithm)
        last = LAST_STAGES if other is None else (other,)
        return any(self.result_path(stage).exists() for stage in last)

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
        return self.path / METRICS

    def kept_policy_path(self, epoch: int) -> Path:
        """Where the policy of one evaluation lies, while it is among the last."""
        return self.path / "policies" / f"epoch-{epoch}.safetensors"

    def kept_policies(self) -> dict[int, Path]:
        """The policies of the last evaluations by epoch, the earliest first."""
        found = {}
        with explained_read(self.path / "policies"):
            for path in (self.path / "policies").glob("epoch-*.safetensors"):
                if match := re.fullmatch(r"epoch-(\d{1,9})", path.stem):
                    found[int(match.group(1))] = path
        return dict(sorted(found.items()))

    def drop_policies(self, *, keep: int, after: int | None = None) -> None:
        """Remove all but the last `keep` policies; with `after`, those of later epochs too."""
        found = self.kept_policies()
        late = [epoch for epoch in found if after is not None and epoch > after]
        early = [epoch for epoch in found if epoch not in late]
        with explained_write(self.path / "policies"):
            for epoch in late + early[: max(0, len(early) - keep)]:
                found[epoch].unlink()

    def records(self, stage: str | None = None) -> list[Record]:
        """Every recorded epoch, of one stage or of all, in order."""
        found = [Record.of(line, where) for line, where in self._numbered(METRICS)]
        return [record for record in found if stage in (None, record.stage)]

    def timings(self, stage: str | None = None) -> list[Timing]:
        """How long each epoch took, of one stage or of all, in order."""
        found = [Timing.of(line, where) for line, where in self._numbered(TIMING)]
        return [timing for timing in found if stage in (None, timing.stage)]

    def calibration(self) -> Calibration:
        """Whether its counts predict its model's error."""
        return Calibration.read(self.path)

    def _numbered(self, file_name: str) -> list[tuple[Any, str]]:
        path = self.path / file_name
        return [(line, f"{path}, line {n}") for n, line in enumerate(self.lines(file_name), 1)]

    def lines(self, file_name: str) -> list[Any]:
        """The JSON of every line of a file; an unfinished last line is passed over."""
        path = self.path / file_name
        return parse_lines(path) if path.exists() else []

    def append(self, file_name: str, record: Mapping[str, Any]) -> None:
        """Add one line to a JSON-lines file of the run and flush it."""
        append(self.path / file_name, json.dumps(record).encode() + b"\n")

    @property
    def metrics_size(self) -> int:
        """How many bytes of metrics there are."""
        return self.metrics_path.stat().st_size if self.metrics_path.exists() else 0

    def result_path(self, stage: str) -> Path:
        """Where a finished stage's result lies."""
        return self.path / "stages" / f"{stage}.safetensors"

    def stages(self) -> list[str]:
        """Names of the stages that are finished, in alphabetical order."""
        with explained_read(self.path / "stages"):
            return sorted(path.stem for path in (self.path / "stages").glob("*.safetensors"))

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
        _check_size(self.result_path(stage), meta)
        _check_numbers(self.result_path(stage), arrays)
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
        _check_size(self.checkpoint_path, meta)
        _check_numbers(self.checkpoint_path, arrays)
        return arrays, meta

    def rewind(self, metrics_size: int, last: tuple[str, int] | None = None) -> None:
        """Cut the metrics back to where the checkpoint was taken, and a torn line off timings.

        `last` is the stage and epoch of the checkpoint, whose line is the last that stays.
        """
        size = self.metrics_size
        if size < metrics_size:
            raise RunError(
                f"{self.metrics_path} is shorter than when the checkpoint was saved, so the run "
                "cannot be continued exactly. Restore the file from a copy, or start a new run."
            )
        kept = read_bytes(self.metrics_path, MOST_OF_LINES)[:metrics_size] if metrics_size else b""
        if (kept and kept[-1] != NEWLINE) or (last and _last_epoch(kept) != last):
            raise RunError(
                f"No line of {self.metrics_path} ends where the checkpoint was saved, so the run "
                "cannot be continued exactly. Restore both files from a copy, or start a new run."
            )
        if size > metrics_size:
            truncate(self.metrics_path, metrics_size)
        timing = self.path / TIMING
        content = read_bytes(timing, MOST_OF_LINES) if timing.exists() else b""
        if torn := len(content) - 1 - content.rfind(b"\n"):
            truncate(timing, len(content) - torn)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from training in this folder; what killed ones left is removed."""
        with hold_lock(self.path):
            drop_leftovers(self.path)
            yield


def _last_epoch(lines: bytes) -> tuple[Any, Any] | None:
    """Stage and epoch of the last line of metrics."""
    try:
        found = parse_text(lines[:-1].rpartition(b"\n")[2])
        return found["stage"], found["epoch"]
    except (ValueError, LookupError, TypeError):
        return None


def _check_size(path: Path, meta: Mapping[str, Any]) -> None:
    size = meta.get("metrics_size")
    if type(size) is not int or size < 0:
        raise RunError(f"{path} does not say how long the metrics were when it was saved.")


def _check_numbers(path: Path, arrays: Arrays) -> None:
    """Raise where a number is none. Infinite ones have their place: a best error before the first.

    Where nothing may be infinite, whoever makes something of the arrays says so.
    """
    for name, array in arrays.items():
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise RunError(
                f"{path} is damaged: {name} holds NaN. Restore the file from a copy, or start a "
                "new run."
            )


@contextmanager
def made_of(path: Path) -> Iterator[None]:
    """Say which file it was, where arrays do not make up what they should."""
    try:
        yield
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        said = str(error).partition("\n")[0]
        raise RunError(f"{path} is incomplete: {said}.") from error
