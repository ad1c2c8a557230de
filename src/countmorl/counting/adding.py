"""New logs are counted without a training: `countmorl counts add`, `export` and `merge`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from countmorl.data.batches import Batch, Form, batches
from countmorl.data.foreign import kind_of
from countmorl.errors import DataError, RunError
from countmorl.runs.folder import Run
from countmorl.runs.manifest import DataOrigin
from countmorl.runtime.added import ADDED_FILE, Added, AddedLog, added_to, summed, tables_of
from countmorl.runtime.counts import Counts


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a run's counts hold beside its training."""

    logs: tuple[AddedLog, ...]
    unseen: float | None = None
    """Share of a log's pairs that were unseen before they were added."""

    @property
    def rows(self) -> int:
        """Rows of all logs that were added."""
        return sum(log.rows for log in self.logs)


class _Hash:
    """SHA-256 of the pairs of a log, however it is cut into parts."""

    def __init__(self) -> None:
        self.obs, self.action = hashlib.sha256(), hashlib.sha256()
        self.rows = 0

    def add(self, batch: Batch) -> None:
        """Take note of further pairs."""
        for state, values in ((self.obs, batch.obs), (self.action, batch.action)):
            state.update(np.ascontiguousarray(values, np.float32).data)
        self.rows += len(batch)

    @property
    def value(self) -> str:
        """The digest of what was added so far."""
        return hashlib.sha256(self.obs.digest() + self.action.digest()).hexdigest()


def add_log(run: Run, log: str | Path, *, missing: tuple[str, ...] = ()) -> Standing:
    """Count a log's pairs in addition to a run's; one that was counted already is refused."""
    counts, origin = Counts.of_run(run.path), _origin(run)
    form = form_of(run, counts)
    seen, tables, counted, unseen = _Hash(), None, 0, 0
    for batch in batches(log, form, missing=missing):
        if not len(batch):
            continue
        words, known = counts.codes(batch.obs, batch.action)
        # Of each part its distinct codes alone are kept: a log may be larger than memory.
        new = tables_of(words, known)
        tables = new if tables is None else summed(tables, new)
        counted += int(known.any(axis=0).sum())
        unseen += int((counts.counts(batch.obs, batch.action).level == "unseen").sum())
        seen.add(batch)
    if tables is None:
        raise DataError(f"{log} has no rows, so there is nothing to count.")
    about = AddedLog(name=Path(log).name, hash=seen.value, rows=seen.rows, counted=counted)
    _refuse_training(origin, form, about)
    whole = Added(codes=counts.codes_digest, tables=tables, logs=(about,))
    return _kept(run, counts, whole, unseen / seen.rows)


def merge_file(run: Run, path: Path) -> Standing:
    """Add the counts that another site has exported."""
    if not path.exists():
        raise RunError(f"There is no file {path}; wanted one of `countmorl counts export`.")
    counts, more = Counts.of_run(run.path), Added.load(path)
    more.check_codes(counts.codes_digest, str(path))
    return _kept(run, counts, more, None)


def export_file(run: Run, out: Path) -> Standing:
    """Write what was added to a run, for other sites; the training's own counts they have."""
    if kind_of(out) is not None:
        raise DataError(f"{out} exists already. Delete it first, or choose another name.")
    found = added_to(run.path, Counts.of_run(run.path).codes_digest)
    if found is None:
        raise RunError(f"Nothing was added to {run.path} yet: countmorl counts add {run.path} LOG.")
    found.save(out)
    return Standing(logs=found.logs)


def standing(run: Run) -> Standing:
    """What was added to a run."""
    found = added_to(run.path, Counts.of_run(run.path).codes_digest)
    return Standing(logs=() if found is None else found.logs)


def form_of(run: Run, counts: Counts) -> Form:
    """What a log must look like to be counted by a run's codes."""
    origin = run.manifest.data
    return Form(
        obs_dim=counts.obs_dim,
        action_dim=counts.space.size,
        discrete=counts.space.discrete,
        schema=origin.schema if origin else None,
        done=origin.options.done if origin else None,
    )


def _kept(run: Run, counts: Counts, more: Added, unseen: float | None) -> Standing:
    with run.lock():
        before = added_to(run.path, counts.codes_digest)
        whole = more if before is None else before.merge(more)
        whole.save(run.path / ADDED_FILE)
    return Standing(logs=whole.logs, unseen=unseen)


def _origin(run: Run) -> DataOrigin | None:
    return run.manifest.data


def _refuse_training(origin: DataOrigin | None, form: Form, log: AddedLog) -> None:
    """Raise where a log is the training's own, as far as that can still be read."""
    if origin is None or origin.source is None or kind_of(Path(origin.source)) is None:
        return
    training = _Hash()
    for batch in _readable(origin.source, form):
        training.add(batch)
    if training.rows == log.rows and training.value == log.hash:
        raise DataError(
            f"'{log.name}' is the log that the run was trained on; its pairs are counted already. "
            "Nothing was changed."
        )


def _readable(source: str, form: Form) -> Iterator[Batch]:
    try:
        yield from batches(source, form)
    except DataError:  # It has changed since: then it is another log.
        return
