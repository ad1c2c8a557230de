"""What is counted of a column while it is read: missing values, range, what 32 bits lose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countmorl.data.tables.engine import pl
from countmorl.errors import DataError

LARGEST = float(np.finfo(np.float32).max)
WHOLE = 2.0**24
"""Beyond this, 32 bits do not hold every whole number."""
LEVELS = 16
"""A column of which fewer steps remain has lost its variation."""
NOISE = 1e-10
"""A column that varies by a smaller share of its size is constant up to rounding."""
FLAT = 1e-4
"""Share of its size below which a column's range is taken from its 64 bits."""


class Tally:
    """Counts of one column, block by block."""

    def __init__(self, name: str, where: Callable[[int], str]) -> None:
        self.name, self.where = name, where
        self.missing = 0
        self.first_missing: int | None = None
        self.low, self.high = np.inf, -np.inf
        self.changes = self.kept = 0
        """Changes from row to row in 64 bits, and those that are left in 32; of large numbers."""

    def add(
        self,
        values: np.ndarray,
        raw: pl.Series | None,
        rows: int | np.ndarray,
        blank: np.ndarray | None = None,
    ) -> None:
        """Count a block in single precision; `raw` is the same in full precision.

        `rows` is the first row of the block, or all of them. Nothing is missing in rows that are
        blank.
        """
        low, high = values.min(), values.max()
        if np.isnan(low):
            missing = np.isnan(values)
            self._note_missing(missing if blank is None else missing & ~blank, rows)
            if missing.all():
                return
            low, high = np.nanmin(values), np.nanmax(values)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise self._not_finite(values, raw, rows)
        if raw is not None and raw.dtype == pl.Float64:
            biggest = max(abs(low), abs(high))
            if high - low <= FLAT * biggest:
                whole = raw.to_numpy()
                low, high = np.nanmin(whole), np.nanmax(whole)
            if biggest >= WHOLE:
                self._changes(values, raw)
        self.low, self.high = min(self.low, float(low)), max(self.high, float(high))

    def _note_missing(self, missing: np.ndarray, rows: int | np.ndarray) -> None:
        if not missing.any():
            return
        self.missing += int(missing.sum())
        first = rows + int(missing.argmax()) if isinstance(rows, int) else int(rows[missing].min())
        if self.first_missing is None or first < self.first_missing:
            self.first_missing = first

    @property
    def is_constant(self) -> bool:
        """Whether it never changes."""
        return self.high <= self.low

    def check_precision(self) -> None:
        """Refuse a column whose variation 32 bits cannot show."""
        if self.low > self.high:  # Nothing was counted.
            return
        biggest, width = max(abs(self.low), abs(self.high)), self.high - self.low
        step = float(np.spacing(np.float32(biggest)))
        whole = self.low.is_integer() and self.high.is_integer() and biggest >= WHOLE
        varies = width > (0 if whole else NOISE * biggest)
        # Whole numbers beyond 2^53 may have varied before they came here.
        hidden = biggest >= 2.0**53 and width <= NOISE * biggest
        if hidden or (varies and LEVELS * step > width) or 2 * self.kept < self.changes:
            raise DataError(
                f"Column '{self.name}' holds numbers from {self.low:.17g} to {self.high:.17g}, "
                f"which in 32 bits lie {step:g} apart: what changes in it is lost. Is it an id, or "
                f'a clock? Leave it out, or subtract a start: --obs "{self.name}_since = '
                f'{self.name} - {self.low:.17g}".'
            )

    def _changes(self, values: np.ndarray, raw: pl.Series) -> None:
        whole = raw.to_numpy()
        self.changes += int((whole[1:] != whole[:-1]).sum())
        self.kept += int((values[1:] != values[:-1]).sum())

    def _not_finite(
        self, values: np.ndarray, raw: pl.Series | None, rows: int | np.ndarray
    ) -> DataError:
        at = int(np.isinf(values).argmax())
        where = self.where(rows + at if isinstance(rows, int) else int(rows[at]))
        value = float(raw[at]) if raw is not None else float(values[at])
        if np.isinf(value):
            return DataError(
                f"Column '{self.name}' is infinite in {where}. Correct it, or mark it as missing."
            )
        return DataError(
            f"Column '{self.name}' holds {value:g} in {where}, which is more than "
            f"a number of 32 bits can hold ({LARGEST:.2g}). Correct it, or use another unit."
        )


class Twins:
    """Finds columns that are equal in every row, block by block."""

    def __init__(self) -> None:
        self.groups: list[list[int]] | None = None

    def add(self, block: np.ndarray) -> None:
        """Keep together what is still equal in this block."""
        if self.groups is None:
            self.groups = [list(range(block.shape[1]))]
        self.groups = [
            part for group in self.groups for part in _equal(block, group) if len(part) > 1
        ]


def _equal(block: np.ndarray, group: list[int]) -> list[list[int]]:
    # The first rows tell most columns apart; only what they do not is compared as a whole.
    for rows in (16, len(block)):
        found: dict[bytes, list[int]] = {}
        for place in group:
            found.setdefault(block[:rows, place].tobytes(), []).append(place)
        if max(map(len, found.values())) == 1:
            return list(found.values())
    return list(found.values())
