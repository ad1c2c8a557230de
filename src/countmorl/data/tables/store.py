"""Numbers of a table on their way: too many for memory, so they lie in a temporary file."""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from pathlib import Path

import numpy as np

HELD = 2**29
"""Bytes of the file that may count as memory of this process at a time."""
PAGE = 4096


class Store:
    """Rows of numbers in a file; written in order once, then read and changed anywhere."""

    def __init__(self, path: Path, width: int, dtype: type) -> None:
        self.path, self.width, self.dtype = path, width, np.dtype(dtype)
        self.rows = 0
        self._file = open(path, "wb")
        self._map: np.memmap | None = None
        self._touched = 0

    def append(self, block: np.ndarray) -> None:
        """Add rows."""
        np.ascontiguousarray(block, self.dtype).tofile(self._file)
        self.rows += len(block)

    def finish(self) -> None:
        """End the writing; from now on the rows are read."""
        self._file.close()
        if self.width and self.rows:
            shape = (self.rows, self.width)
            self._map = np.memmap(self.path, self.dtype, "r+", shape=shape)

    def read(self, rows: slice | np.ndarray) -> np.ndarray:
        """A copy of some rows."""
        if self._map is None:
            count = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
            return np.empty((count, self.width), self.dtype)
        found = np.array(self._map[rows])
        # Rows from all over the file bring a page each.
        self._forget(found.nbytes if isinstance(rows, slice) else len(rows) * PAGE)
        return found

    def column(self, place: int) -> np.ndarray:
        """A copy of one column."""
        if self._map is None:
            return np.empty(self.rows, self.dtype)
        size = max(1, 2**26 // (self.width * self.dtype.itemsize))
        found = np.empty(self.rows, self.dtype)
        for start in range(0, self.rows, size):
            found[start : start + size] = self._map[start : start + size, place]
            self._forget(size * self.width * self.dtype.itemsize)
        return found

    def put(self, rows: slice | np.ndarray, place: int, values: np.ndarray) -> None:
        """Change one column of some rows."""
        assert self._map is not None
        self._map[rows, place] = values

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        self._map = None

    def _forget(self, touched: int) -> None:
        """Pages that have been read count as memory of this process until it lets go of them."""
        self._touched += touched
        if self._touched < HELD or self.rows * self.width * self.dtype.itemsize < HELD:
            return
        self._touched = 0
        # Not every system can be told so; memory is then given back when it is needed.
        with suppress(AttributeError, OSError, ValueError):
            if os.name == "posix" and self._map is not None:
                self._map._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]
