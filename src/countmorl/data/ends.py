"""Where the episodes of a log end, and whether the task ended there or only the record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.data.columns import as_flag, as_flat, same_rows
from countmorl.errors import DataError
from countmorl.runs.options import Done

CUTS = ("ended", "started", "episode", "episode_ends", "done")
"""Arrays, beside the two flags, that tell where episodes end."""
BLOCK = 100_000
"""Rows that are compared at once."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Ends:
    """The two flags of every row, the last row of every episode, and how that was understood."""

    terminated: np.ndarray
    truncated: np.ndarray
    rows: np.ndarray
    returning: np.ndarray
    """Rows at which an episode's id comes back after other ids."""
    notes: tuple[str, ...] = ()


def find_ends(
    arrays: dict[str, np.ndarray],
    rows: int,
    broken: np.ndarray,
    done: Done | None,
    name: str,
) -> Ends:
    """Bring every way to mark an end to the two flags.

    `ended`, the rows before `started`, and changes of `episode` end an episode without saying why:
    such a row is truncated, unless it is marked as terminated.
    """
    none = np.zeros(rows, bool)
    flags = {
        key: as_flag(key, arrays[key]) if key in arrays else none
        for key in ("terminated", "truncated", "ended", "started", "done")
    }
    same_rows(rows, **flags)
    terminated, ended, notes = _with_done(arrays, flags, done, name)
    ended = ended | np.append(flags["started"][1:], False)
    returning = np.empty(0, np.int64)
    if "episode" in arrays:
        changes, returning = _changes(arrays["episode"], rows)
        ended |= changes
        notes = (*notes, f"episodes end where their id changes ({changes.sum():,} of them)")
    truncated = flags["truncated"] | (ended & ~terminated)
    marked = _marked(arrays.get("episode_ends"), terminated | truncated | broken)
    return Ends(
        terminated=terminated,
        truncated=truncated,
        rows=marked,
        returning=returning,
        notes=notes,
    )


def _with_done(
    arrays: dict[str, np.ndarray], flags: dict[str, np.ndarray], said: Done | None, name: str
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Terminated rows, rows that end an episode, and what `done` was taken for."""
    terminated, ended, done = flags["terminated"], flags["ended"], flags["done"]
    if "done" not in arrays:
        if said is not None:
            raise DataError(
                f"'{name}' has no `done`, so there is nothing to say of it by `--done {said}`. "
                "Leave it out."
            )
        return terminated, ended, ()
    if said == "terminated":
        return terminated | (done & ~flags["truncated"]), ended, ("`done` is an end, as was said",)
    if said == "ended":
        return terminated, ended | done, ("`done` ends an episode for any reason, as was said",)
    if "terminated" in arrays:
        return terminated, ended | done, ("`done` beside `terminated` ends an episode",)
    if "truncated" in arrays:
        note = "`done` beside `truncated`: rows that are done and not truncated are terminated"
        return done & ~flags["truncated"], ended, (note,)
    if not done.any():
        return terminated, ended, ()
    raise DataError(
        f"'{name}' marks {done.sum():,} rows as `done`, first row {done.argmax():,}, and nothing "
        "tells whether the task itself ended there or a time limit was reached. Say which: `--done "
        'terminated` or `--done ended` (in Python `done="terminated"`); or store `terminated` and '
        "`truncated`."
    )


def _changes(ids: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Mark the last row of each episode by the rows' ids; ids may be of any type, text too."""
    ids = as_flat("episode", ids)
    same_rows(rows, episode=ids)
    if ids.dtype.kind == "O":  # Text of any length, as HDF5 files hold it.
        ids = ids.astype("S") if all(isinstance(each, bytes) for each in ids) else ids.astype("U")
    if ids.dtype.kind == "f" and np.isnan(ids).any():
        raise DataError(
            f"Row {np.isnan(ids).argmax():,} has no episode id. Every row belongs to an episode; "
            "repair or drop such rows."
        )
    last = np.append(ids[1:] != ids[:-1], True)
    starts = np.append(0, np.flatnonzero(last)[:-1] + 1)
    _, first = np.unique(ids[starts], return_index=True)
    return last, np.delete(starts, first)


def _marked(given: np.ndarray | None, marked: np.ndarray) -> np.ndarray:
    """An episode ends at a flag, where the caller says so, or where the log does not go on."""
    if given is not None:
        inside = given.dtype.kind in "iu" and given.ndim == 1 and len(given)
        if not inside or given.min() < 0 or given.max() >= len(marked):
            raise DataError("`episode_ends` must be row numbers of this dataset.")
        marked[given] = True
    ends, last = np.flatnonzero(marked), len(marked) - 1
    return ends if len(ends) and ends[-1] == last else np.append(ends, last)


def breaks(obs: np.ndarray, next_obs: np.ndarray | None) -> np.ndarray:
    """Mark rows whose stored next observation is not the next row's observation."""
    broken = np.zeros(len(obs), bool)
    if next_obs is not None:
        for start in range(0, len(obs) - 1, BLOCK):  # In blocks, so a large log is not copied.
            stop = min(start + BLOCK, len(obs) - 1)
            differs = next_obs[start:stop].ravel() != obs[start + 1 : stop + 1].ravel()
            # Few numbers differ in a log, so their positions are found faster than a row-wise any.
            broken[start + np.flatnonzero(differs) // obs.shape[1]] = True
    return broken
