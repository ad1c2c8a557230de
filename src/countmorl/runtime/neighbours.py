"""How often pairs were logged, told by distance: counts that no network can be wrong about.

A pair counts the logged rows that reach it, as `countmorl judge` has it (docs/judging.md). NumPy
alone; up to 20,000 rows are kept, and one pair is held against all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.errors import DataError, RunError
from countmorl.files import read_arrays, write_arrays
from countmorl.runtime.levels import Counted, level_of
from countmorl.runtime.named import as_numbers
from countmorl.spaces import ActionSpace

NEIGHBOURS_KIND, NEIGHBOURS_FORMAT = "neighbours", 1
NEIGHBOURS_BLOCK = 250
"""Pairs whose distances are there at once."""
TIE = 1e-9
"""Squared distances that differ by less are of equally near rows."""
ARRAYS = (
    "place",
    "kind",
    "reach",
    "limit",
    "obs_mean",
    "obs_std",
    "action_mean",
    "action_std",
    "action_low",
    "action_high",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Neighbours:
    """Logged rows and how far each of them reaches: `counts(obs, action) -> Counted`.

    An observation weighs as much as an action: x = (obs - mean) / std / sqrt(columns), and the same
    of the action in [-1, 1]. Row i is counted within reach[i]; nothing is counted where the nearest
    row j lies farther than limit[j].
    """

    place: np.ndarray
    """Scaled rows, [rows, columns]."""
    kind: np.ndarray
    """The number of a discrete action, else 0; rows of another kind are never near. [rows]"""
    reach: np.ndarray
    limit: np.ndarray
    obs_mean: np.ndarray
    obs_std: np.ndarray
    action_mean: np.ndarray
    """Of actions in [-1, 1]; empty where they are discrete."""
    action_std: np.ndarray
    space: ActionSpace
    thin: float
    """A pair with fewer neighbours is thin."""

    def __post_init__(self) -> None:
        rows, width = len(self.place), len(self.obs_mean) + len(self.action_mean)
        arrays = [getattr(self, name) for name in ARRAYS[:8]]
        shapes = [each.shape for each in arrays]
        vectors = (rows,), (rows,), (rows,)
        sizes = (len(self.obs_mean),), (len(self.action_mean),)
        wanted = [(rows, width), *vectors, sizes[0], sizes[0], sizes[1], sizes[1]]
        action = 0 if self.space.discrete else self.space.size
        whole = all(each.dtype.kind in "fiu" and np.isfinite(each).all() for each in arrays)
        if shapes != wanted or not rows or not whole or len(self.action_mean) != action:
            raise RunError("These neighbours cannot be used: their arrays do not fit together.")

    @property
    def obs_dim(self) -> int:
        """Numbers in one observation."""
        return len(self.obs_mean)

    def counts(self, obs: Any, action: Any) -> Counted:
        """Count pairs [n, obs] and [n, action], or one of each; actions as the log has them."""
        obs, vectors = np.atleast_2d(as_numbers(obs)), np.atleast_2d(self.space.vectors(action))
        wanted = (len(obs), self.obs_dim), (len(obs), self.space.size)
        if (obs.shape, vectors.shape) != wanted or not np.isfinite(vectors).all():
            raise DataError(
                f"Neighbours want observations of {self.obs_dim} numbers and finite actions of "
                f"{self.space.size}, one of each per pair; got shapes {list(obs.shape)} and "
                f"{list(np.shape(action))}."
            )
        blocks = range(0, max(1, len(obs)), NEIGHBOURS_BLOCK)
        found = [
            self._near(*(e[at : at + NEIGHBOURS_BLOCK] for e in (obs, vectors))) for at in blocks
        ]
        members = np.concatenate(found)[None]
        count = members[0].astype(np.float64)
        return Counted(members=members, count=count, level=level_of(members, count, self.thin))

    def _near(self, obs: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        x = (obs - self.obs_mean) / _divisor(self.obs_std) * self.obs_dim**-0.5
        kind = np.zeros(len(obs), int)
        if self.space.discrete:
            kind = vectors.argmax(axis=1)
        else:
            moved = (vectors - self.action_mean) / _divisor(self.action_std)
            x = np.concatenate([x, moved * self.space.size**-0.5], axis=1)
        # In 64 bits, or the order of adding up would decide who is near.
        x = x.astype(np.float32).astype(np.float64)
        rows = self._rows
        apart = np.add.outer(np.square(x).sum(axis=1), rows.norm) - x @ rows.twice
        np.maximum(apart, 0, out=apart)
        if self.space.discrete:
            apart[kind[:, None] != self.kind] = np.inf
        nearest = apart <= apart.min(axis=1, keepdims=True) + TIE
        near = (nearest & (apart <= rows.limit)).any(axis=1)
        return np.where(near, (apart <= rows.reach).sum(axis=1), 0)

    @cached_property
    def _rows(self) -> _Rows:
        place, reach, limit = map(np.float64, (self.place, self.reach, self.limit))
        return _Rows(
            twice=np.ascontiguousarray(2 * place.T),
            norm=np.square(place).sum(axis=1),
            reach=np.square(reach),
            limit=np.square(limit),
        )

    def save(self, path: str | Path) -> None:
        """Write one safetensors file, atomically."""
        arrays = {name: getattr(self, name) for name in ARRAYS[:8]}
        arrays |= {"action_low": self.space.low, "action_high": self.space.high}
        meta = {
            "kind": NEIGHBOURS_KIND,
            "format": NEIGHBOURS_FORMAT,
            "discrete": self.space.discrete,
            "thin": self.thin,
        }
        write_arrays(Path(path), arrays, meta)

    @classmethod
    def load(cls, path: str | Path) -> Neighbours:
        """Read what `save` wrote."""
        arrays, meta = read_arrays(Path(path))
        if (meta.get("kind"), meta.get("format")) != (NEIGHBOURS_KIND, NEIGHBOURS_FORMAT):
            raise RunError(f"{path} is not a file of neighbours of format {NEIGHBOURS_FORMAT}.")
        try:
            low, high = arrays["action_low"], arrays["action_high"]
            space = ActionSpace(low=low, high=high, discrete=bool(meta["discrete"]))
            parts = {name: arrays[name] for name in ARRAYS[:8]}
            return cls(**parts, space=space, thin=float(meta["thin"]))
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"{path} is incomplete: {error}.") from error


@dataclass(frozen=True, eq=False, kw_only=True)
class _Rows:
    """What the logged rows are to every pair, in 64 bits."""

    twice: np.ndarray
    """Their places twice, [columns, rows]: doubling a number costs no digit."""
    norm: np.ndarray
    reach: np.ndarray
    """Squared, as `limit`."""
    limit: np.ndarray


def _divisor(std: np.ndarray) -> np.ndarray:
    return np.where(std == 0, np.float32(1), std)
