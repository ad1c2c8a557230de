"""Rows of a temporary file in another order, without fetching them one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from countmorl.data.tables.store import Store

PART = 2**24
"""Bytes that are put in order at a time: few enough for the processor's cache."""


def arranged(store: Store, rows: np.ndarray | None) -> Store | Arranged:
    """A store whose rows are read from front to back in this order; None for its own."""
    return store if rows is None or not store.width else Arranged(store, rows)


class Arranged:
    """Some rows of a store in a given order, each at most once.

    Rows that lie anywhere in a file cost a page of it each, and a file larger than memory would be
    read many times over. So the file is read once from front to back, and every row is written to
    the part of a second file to which it belongs; a part fits into memory, where it is put in
    order when it is read.
    """

    def __init__(self, store: Store, rows: np.ndarray) -> None:
        self.rows, self.width, self.dtype = rows, store.width, store.dtype
        self.path = store.path.with_name(f"{store.path.name}-arranged")
        self.size = max(1, PART // self._bytes)
        """Rows of a part."""
        self._held: tuple[int, np.ndarray] | None = None
        _distribute(store, self.path, rows, self.size)

    @property
    def _bytes(self) -> int:
        return self.width * self.dtype.itemsize

    def read(self, rows: slice) -> np.ndarray:
        """Rows of the new order; what follows on the rows before is there at once."""
        found, at = [], rows.start
        while at < rows.stop:
            part, first = divmod(at, self.size)
            last = min(first + rows.stop - at, self.size)
            found.append(self._part(part)[first:last])
            at += last - first
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _part(self, part: int) -> np.ndarray:
        if self._held is None or self._held[0] != part:
            self._held = None  # One is held, not two.
            start = part * self.size
            # In a part, rows lie as they lay in the store.
            rank = np.argsort(self.rows[start : start + self.size])
            count, offset = len(rank) * self.width, start * self._bytes
            lying = np.fromfile(self.path, self.dtype, count, offset=offset)
            ordered = np.empty((len(rank), self.width), self.dtype)
            ordered[rank] = lying.reshape(ordered.shape)
            self._held = part, ordered
        return self._held[1]


def _distribute(store: Store, path: Path, rows: np.ndarray, size: int) -> None:
    """Write the rows part by part; within a part, in the order of the store."""
    parts = -(-len(rows) // size)
    # The smallest type, since whole numbers of up to 16 bits are sorted fastest.
    part = np.full(store.rows, parts, np.min_scalar_type(parts))
    for each in range(parts):
        part[rows[each * size : (each + 1) * size]] = each
    ends = np.arange(parts) * size
    with open(path, "wb") as file:
        for start in range(0, store.rows, size):
            belongs = part[start : start + size]
            counts = np.bincount(belongs, minlength=parts + 1)[:parts]
            order = np.argsort(belongs, kind="stable")[: counts.sum()]
            block = store.read(slice(start, min(start + size, store.rows)))[order]
            pieces = np.split(block, np.cumsum(counts)[:-1])
            for each in np.flatnonzero(counts):
                file.seek(int(ends[each]) * block.strides[0])
                file.write(pieces[each].data)
            ends += counts
