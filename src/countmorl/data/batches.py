"""A log read from front to back in parts, so that it may be larger than memory.

HDF5 files of flat arrays are read so many rows at a time, and tables become such a file first, in
the temporary folder. Other formats are read as a whole. Nothing is judged: actions may lie outside
of the bounds that a training knew, and words may be new. Whoever reads decides what that means.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from countmorl.data.aliases import KEYS
from countmorl.data.fields import Fields
from countmorl.data.foreign import kind_of, user_path
from countmorl.data.readers.hdf5_files import opened, read_ids, refuse_unsafe, tree
from countmorl.data.sources import TABLES, read
from countmorl.errors import DataError
from countmorl.runs.options import ActionKind, DataOptions, Done
from countmorl.schema import OTHER, Column, Schema, obs_names

ROWS = 100_000
"""Rows that are there at once."""
WHOLE = ("action_low", "action_high", "action_count", "schema", "env_id", "episode_ends")
"""Arrays that do not have one entry per row."""
FAR = 1e30
"""Bounds that no action of a table lies outside of."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Form:
    """What a log must look like to be compared with a training's."""

    obs_dim: int
    action_dim: int
    discrete: bool
    schema: Schema | None = None
    done: Done | None = None

    @property
    def kind(self) -> ActionKind:
        """How its actions are understood, whatever their values look like."""
        return "discrete" if self.discrete else "continuous"


@dataclass(frozen=True, eq=False, kw_only=True)
class Batch:
    """Some steps of a log, in order; actions are vectors in the log's unit, or one-hot."""

    obs: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    next_obs: np.ndarray
    next_known: np.ndarray
    episode: np.ndarray
    """The number of each step's episode, from 0 on through the whole log."""
    strange: Mapping[str, np.ndarray]
    """By column, the steps that hold a word which the training did not know."""

    def __len__(self) -> int:
        return len(self.reward)


def batches(
    source: str | Path | Mapping[str, Any],
    form: Form,
    *,
    missing: tuple[str, ...] = (),
    rows: int = ROWS,
) -> Iterator[Batch]:
    """Read a log part by part; `missing` are further rules for missing values of a table."""
    if isinstance(source, Mapping):
        yield from _whole(source, form)
        return
    path = user_path(source)
    if any(ending in TABLES for ending in path.suffixes[-2:]):
        with _imported(path, form, missing) as (file, wide):
            yield from _of_file(file, wide, rows)
    elif missing:
        raise DataError("Rules for missing values are for tables; this log is none.")
    elif path.suffix.lower() in (".hdf5", ".h5") and kind_of(path) is not None:
        yield from _of_file(path, form, rows)
    else:
        yield from _whole(str(source), form)


def _whole(source: Any, form: Form) -> Iterator[Batch]:
    fields = read(source, options=DataOptions(done=form.done, actions=form.kind))
    yield _batch(fields, form, 0, len(fields.reward))


def _of_file(path: Path, form: Form, rows: int) -> Iterator[Batch]:
    with opened(path) as file:
        arrays: dict[str, Any] = {str(name): file.get(name) for name in file if name in KEYS}
        flat = all(isinstance(each, h5py.Dataset) for each in arrays.values())
        if not flat or not {"obs", "action", "reward"} <= {KEYS[name] for name in arrays}:
            arrays = {}
        else:
            arrays = tree(path, file, list(arrays))
            refuse_unsafe(path, arrays, whole=False)
            yield from _slices(path, arrays, form, rows)
    if not arrays:  # Episodes in groups, or numbers of another layout.
        yield from _whole(str(path), form)


def _slices(path: Path, arrays: dict[str, Any], form: Form, rows: int) -> Iterator[Batch]:
    """Parts of a file. An episode that a part cuts off is read again with the next one."""
    by_row = {name: each for name, each in arrays.items() if KEYS[name] not in WHOLE}
    by_row |= {n: read_ids(path, each) for n, each in by_row.items() if KEYS[n] == "episode"}
    ids = [by_row[n] for n in by_row if KEYS[n] == "episode"]
    ends = [np.asarray(arrays[n][()]) for n in arrays if KEYS[n] == "episode_ends"]
    stored = {n: np.asarray(arrays[n][()]) for n in arrays if KEYS[n] in ("schema", "action_count")}
    lengths = {name: len(each) if each.shape else -1 for name, each in by_row.items()}
    total = lengths[next(name for name in lengths if KEYS[name] == "obs")]
    if wrong := [name for name, length in lengths.items() if length != total]:
        raise DataError(f"`{wrong[0]}` of {path} has {lengths[wrong[0]]} rows, wanted {total}.")
    start = number = 0
    options = DataOptions(done=form.done, actions=form.kind)
    while start < total:
        stop = min(start + rows, total)
        part = stored | {name: np.asarray(each[start:stop]) for name, each in by_row.items()}
        if ends:
            inside = (ends[0] >= start) & (ends[0] < stop)
            part |= {"episode_ends": ends[0][inside] - start} if inside.any() else {}
        if form.discrete and "action_count" not in part:
            part["action_count"] = np.array(form.action_dim)
        fields = Fields.of(part, name=path.stem, options=options)
        # Of ids the last row of a part always looks like an end.
        same = any(stop < total and each[stop] == each[stop - 1] for each in ids)
        count, goes_on = _complete(fields, stop == total, cut=same)
        yield _batch(fields, form, number, count)
        number += int(np.searchsorted(fields.episode_ends, count - 1)) + (not goes_on)
        start += count


def _complete(fields: Fields, last: bool, *, cut: bool) -> tuple[int, bool]:
    """Rows of a part that are read for good, and whether their last episode goes on behind."""
    ends, rows = fields.episode_ends, len(fields.reward)
    if last or (not cut and (fields.terminated[-1] or fields.truncated[-1])):
        return rows, False
    return (int(ends[-2]) + 1, False) if len(ends) > 1 else (rows, True)


def _batch(fields: Fields, form: Form, first: int, rows: int) -> Batch:
    own, strange = _columns(fields, form)
    fields.check_kept()
    fields.check_finite()
    next_obs, known = fields.next_or_shifted()
    return Batch(
        obs=fields.obs[:rows, own],
        action=fields.action[:rows, : form.action_dim],
        reward=fields.reward[:rows],
        next_obs=next_obs[:rows, own],
        next_known=known[:rows],
        episode=first + np.searchsorted(fields.episode_ends, np.arange(rows)),
        strange={name: flags[:rows] for name, flags in strange.items()},
    )


def _columns(fields: Fields, form: Form) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Places of the training's columns in a log, and where words are that it did not know."""
    kind, wanted = {True: "discrete actions", False: "actions that are vectors"}, form.discrete
    if fields.discrete != wanted:
        raise DataError(
            f"'{fields.name}' has {kind[fields.discrete]}, the training had {kind[wanted]}. Give a "
            "log of the same task."
        )
    names = obs_names(fields.schema, fields.obs.shape[1])
    own = obs_names(form.schema if fields.schema else None, form.obs_dim)
    lacking = [name for name in own if name not in names]
    more = [name for name in names if name not in own]
    # What is more can only be a number of a table that says: another word.
    others = fields.action.shape[1] - form.action_dim
    named = form.schema is not None and fields.schema is not None
    if lacking or (more and not named) or others < 0 or (others and not named):
        raise DataError(
            f"'{fields.name}' has {fields.obs.shape[1]} observation and {fields.action.shape[1]} "
            f"action numbers, the training had {form.obs_dim} and {form.action_dim}"
            + (f"; it lacks {', '.join(lacking[:5])}" if lacking and named else "")
            + ". Give a log of the same columns; a table is read by the run's own schema."
        )
    if [name for name in more if f"={OTHER}" not in name]:
        raise DataError(
            f"'{fields.name}' has columns that the training did not: {', '.join(more[:5])}. Give a "
            "log of the same columns; a table is read by the run's own schema."
        )
    places = {name: place for place, name in enumerate(names)}
    strange = {
        name.removesuffix(f"={OTHER}"): fields.obs[:, places[name]] > 0
        for name in more
        if "@" not in name
    }
    if others:
        assert form.schema is not None
        strange[form.schema.action[0].name] = fields.action[:, -1] > 0
    return np.array([places[name] for name in own]), strange


@contextmanager
def _imported(path: Path, form: Form, missing: tuple[str, ...]) -> Iterator[tuple[Path, Form]]:
    """A table as a file of arrays, by the training's schema; new words get a number of theirs."""
    from countmorl.data.tables.importing import complete, import_file

    if form.schema is None:
        raise DataError(
            f"{path} is a table, but the training's log had no names of columns. Give arrays "
            "(.hdf5, .npz) in the order of the training's."
        )
    asked = replace(
        form.schema,
        obs=tuple(map(_open, form.schema.obs)),
        action=tuple(map(_open, form.schema.action)),
    )
    given: dict[str, Any] = {"missing": missing}
    if not form.discrete:
        given |= {"action_low": (-FAR,), "action_high": (FAR,)}
    with tempfile.TemporaryDirectory(prefix="countmorl-") as folder:
        file = Path(folder) / f"{path.name}.hdf5"
        import_file([str(path)], complete(given, asked), file)
        yield file, form


def _open(column: Column) -> Column:
    """A column that takes any word: what is new is for the reader to judge."""
    return replace(column, unknown="other") if column.kind == "category" else column
