"""Numbers of 64 bits brought to 32, and what that loses: found before the cast, not after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from countmorl.data.columns import real_numbers

BLOCK = 100_000
"""Rows that are looked at together, so that a large file is never held twice."""
LARGEST = float(np.finfo(np.float32).max)
WHOLE = 2.0**24
"""Beyond this, 32 bits do not hold every whole number."""
LEVELS = 16
"""A column of which fewer steps remain has lost its variation."""
NOISE = 1e-12
"""A float column that varies by a smaller share of its size is constant up to rounding."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Loss:
    """What one array loses in 32 bits."""

    key: str
    kind: Literal["precision", "too-large"]
    columns: tuple[int, ...]
    rows: np.ndarray
    """Rows that hold a number that is too large; none where a whole column is flattened."""

    def named(self, key: str) -> Loss:
        """The same loss of an array that is called otherwise."""
        return replace(self, key=key)


def narrowed(key: str, source: Any) -> tuple[np.ndarray, tuple[Loss, ...]]:
    """Numbers in single precision, and what the cast has lost.

    `source` is an array, or a dataset of an HDF5 file, which is then read block by block.
    """
    real_numbers(key, source.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        if source.dtype.kind == "b" or source.dtype.itemsize <= 2 or source.dtype == np.float32:
            return np.ascontiguousarray(source[()], np.float32), ()
        if not source.ndim or not source.size:
            return np.ascontiguousarray(source[()], np.float32), ()
        return _cast(key, source)


def _cast(key: str, source: Any) -> tuple[np.ndarray, tuple[Loss, ...]]:
    values = np.empty(source.shape, np.float32)
    ranges, too_large, wide = [], [], set()
    for start, block in _blocks(source):
        part = values[start : start + len(block)]
        part[...] = block
        flat, cast = block.reshape(len(block), -1), part.reshape(len(block), -1)
        if np.isfinite([cast.min(), cast.max()]).all():
            ranges.append((flat.min(axis=0), flat.max(axis=0)))
            continue
        finite = np.isfinite(flat)
        lost = np.isinf(cast) & finite
        too_large.append(start + np.flatnonzero(lost.any(axis=1)))
        wide |= set(np.flatnonzero(lost.any(axis=0)).tolist())
        if finite.any(axis=0).all():
            low = np.where(finite, flat, np.inf).min(axis=0)
            ranges.append((low, np.where(finite, flat, -np.inf).max(axis=0)))
    rows = np.concatenate(too_large) if too_large else np.empty(0, np.int64)
    losses = []
    if len(rows):
        columns = tuple(sorted(wide))
        losses.append(Loss(key=key, kind="too-large", columns=columns, rows=rows))
    flattened = [c for c in _flattened(source, ranges) if c not in wide]
    if flattened:
        none = np.empty(0, np.int64)
        losses.append(Loss(key=key, kind="precision", columns=tuple(flattened), rows=none))
    return values, tuple(losses)


def _blocks(source: Any) -> Iterator[tuple[int, np.ndarray]]:
    """Blocks of rows with the number of their first; whole chunks where a file has chunks."""
    chunk = (getattr(source, "chunks", None) or (1,))[0]
    size = max(BLOCK // chunk, 1) * chunk
    for start in range(0, len(source), size):
        yield start, np.asarray(source[start : start + size])


def _flattened(source: Any, ranges: list[tuple[np.ndarray, np.ndarray]]) -> list[int]:
    """Columns that vary in 64 bits and hardly or not at all in 32."""
    if not ranges:
        return []
    low = np.min([each[0] for each in ranges], axis=0)
    high = np.max([each[1] for each in ranges], axis=0)
    biggest = np.maximum(np.abs(np.float64(low)), np.abs(np.float64(high)))
    # Of whole numbers beyond 2^53, 64-bit floats lose as much: they are subtracted as they are.
    width = np.array([float(b.item() - a.item()) for a, b in zip(low, high, strict=True)])
    varies = width > (NOISE * biggest if source.dtype.kind == "f" else 0)
    varies &= biggest < LARGEST
    step = np.float64(np.spacing(np.float32(np.minimum(biggest, LARGEST / 2))))
    lost = varies & (LEVELS * step > width)
    doubtful = np.flatnonzero(varies & ~lost & (biggest >= WHOLE))
    if len(doubtful):
        lost[doubtful] = _vanished(source, doubtful)
    return np.flatnonzero(lost).tolist()


def _vanished(source: Any, columns: np.ndarray) -> np.ndarray:
    """Whether most changes from row to row are gone in 32 bits, as those of a clock are."""
    changes, kept = np.zeros(len(columns), np.int64), np.zeros(len(columns), np.int64)
    for _, block in _blocks(source):
        flat = block.reshape(len(block), -1)[:, columns]
        cast = flat.astype(np.float32)
        changes += (flat[1:] != flat[:-1]).sum(axis=0)
        kept += (cast[1:] != cast[:-1]).sum(axis=0)
    return 2 * kept < changes
