"""How often were these pairs logged? A run's counter with its model, in NumPy alone.

`countmorl.counts` asks the same of JAX, for millions of pairs; here one pair takes a fraction of a
millisecond, and what answers is small enough to stand beside a policy in production.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.configs import from_json, to_json
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.files import Arrays, digest, read_arrays, write_arrays
from countmorl.runtime.added import added_to
from countmorl.runtime.coding import CODERS, Coder, Places, stored_coder
from countmorl.runtime.levels import Counted, joined, level_of
from countmorl.runtime.named import as_numbers
from countmorl.runtime.tables import Table, Tables
from countmorl.runtime.use import CountUse, run_parts
from countmorl.spaces import ActionSpace

COUNTS_KIND, COUNTS_FORMAT = "counts", 1
COUNT_BLOCK = 2_048
"""Pairs that are coded at once."""


@dataclass(frozen=True, kw_only=True)
class CountsMeta:
    """What the file of counts says beside its arrays."""

    kind: str
    format: int
    use: CountUse
    thin: float
    members: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """Counts of any pairs, and their level: `counts(obs, action) -> Counted`.

    unseen: most elites never saw the pair. thin: its count, by the run's estimate, is below `thin`,
    which a tenth of the held-out pairs are (of those that were seen). covered: all others.
    """

    coder: Coder
    tables: Tables
    mean: np.ndarray
    """Of the columns of (obs, action), the action scaled to [-1, 1]."""
    std: np.ndarray
    use: CountUse
    thin: float

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise RunError(f"These counts cannot be used: {problem}.")

    @cached_property
    def space(self) -> ActionSpace:
        """The actions of the run's data."""
        return self.use.space

    @cached_property
    def codes_digest(self) -> str:
        """Digest of what decides the codes: counts of equal digests can be added up."""
        arrays = {"mean": self.mean, "std": self.std, **self.coder.to_arrays()}
        return digest(arrays, json.dumps(to_json(self.use), sort_keys=True))

    @property
    def obs_dim(self) -> int:
        """Numbers in one observation."""
        return len(self.mean) - self.space.size

    def counts(self, obs: Any, action: Any) -> Counted:
        """Count pairs [n, obs] and [n, action], or one of each; actions as the log has them.

        Discrete actions are numbers [n], or one-hot vectors.
        """
        members = [self._members(x) for x in self._blocks(obs, action)]
        return self._counted(members[0] if len(members) == 1 else np.concatenate(members, axis=1))

    def verified(self, obs: Any, action: Any) -> np.ndarray:
        """Which members can tell pairs at all, [members, n]: others count 0 whatever is added."""
        known = [self.coder.codes(x)[1] for x in self._blocks(obs, action)]
        return np.concatenate(known, axis=1)

    def codes(self, obs: Any, action: Any) -> tuple[np.ndarray, np.ndarray]:
        """Every member's code of pairs, [members, n, words], and whether it can tell them."""
        found = [self.coder.codes(x) for x in self._blocks(obs, action)]
        words, known = (np.concatenate(each, axis=1) for each in zip(*found, strict=True))
        return words, known

    def add(self, obs: Any, action: Any) -> Counts:
        """The counts with more logged pairs; the codes stay as they are.

        Pairs that a member cannot tell (`verified`) are not added to its table: under their code
        others would be counted for them.
        """
        words, known = self.codes(obs, action)
        if isinstance(self.coder, Places) and not known.all():
            raise DataError(
                f"{(~known).sum():,} of the {known.size:,} pairs hold numbers that the log of "
                "these exact counts did not, so there is no place for them. Count both logs anew."
            )
        tables = [Table.of(w[k]) if k.any() else None for w, k in zip(words, known, strict=True)]
        return self._with(tables)

    def merge(self, other: Counts) -> Counts:
        """The counts of both logs, which the same codes were used for."""
        ours, theirs = (each.coder.to_arrays() for each in (self, other))
        same = ours.keys() == theirs.keys() and all(
            np.array_equal(ours[name], theirs[name]) for name in ours
        )
        scaled = np.array_equal(self.mean, other.mean) and np.array_equal(self.std, other.std)
        if not same or not scaled or to_json(self.use) != to_json(other.use):
            raise DataError(
                "These counts are of two kinds of codes and cannot be added up. Only counts that "
                "began with the same run have the same codes."
            )
        return self._with(other.tables.each)

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Every array by its name in a file, and what the file says of them."""
        arrays = {"mean": self.mean, "std": self.std, **self.coder.to_arrays()}
        for index, table in enumerate(self.tables.each):
            parts = {"words": table.words, "counts": table.counts, "starts": table.starts}
            arrays |= {f"table.{index}.{name}": part for name, part in parts.items()}
        meta = CountsMeta(
            kind=COUNTS_KIND,
            format=COUNTS_FORMAT,
            use=self.use,
            thin=self.thin,
            members=self.coder.members,
        )
        return arrays, to_json(meta)

    @classmethod
    def from_arrays(cls, arrays: Arrays, meta: Mapping[str, Any]) -> Counts:
        """Bring back what `to_arrays` has named; what does not fit is a `RunError`."""
        if (meta.get("kind"), meta.get("format")) != (COUNTS_KIND, COUNTS_FORMAT):
            raise RunError(
                f"This is not a file of counts of format {COUNTS_FORMAT}, but "
                f"{meta.get('kind', 'unknown')} of format {meta.get('format')}."
            )
        try:
            about = from_json(CountsMeta, dict(meta))
            if about.use.counter not in CODERS:
                raise ConfigError(f"there are no codes named '{about.use.counter}'")
            names = ("words", "counts", "starts")
            tables = tuple(
                Table(**{name: arrays[f"table.{index}.{name}"] for name in names})
                for index in range(min(about.members, len(arrays)))
            )
            return cls(
                coder=stored_coder(about.use.counter, arrays),
                tables=Tables(tables),
                mean=arrays["mean"],
                std=arrays["std"],
                use=about.use,
                thin=about.thin,
            )
        except (ConfigError, KeyError) as error:
            raise RunError(f"These counts are incomplete: {error}") from error

    def save(self, path: str | Path) -> None:
        """Write one safetensors file, atomically."""
        write_arrays(Path(path), *self.to_arrays())

    @classmethod
    def load(cls, path: str | Path) -> Counts:
        """Read what `save` wrote."""
        return cls.from_arrays(*read_arrays(Path(path)))

    @classmethod
    def of_run(cls, path: str | Path) -> Counts:
        """The counts of a run that counts, such as one of count-morl, with all that was added."""
        counts = cls(**run_parts(Path(path)))
        added = added_to(Path(path), counts.codes_digest)
        return counts if added is None else counts._with(added.tables)

    def _blocks(self, obs: Any, action: Any) -> list[np.ndarray]:
        """Standardised pairs, some at once."""
        obs, vectors = np.atleast_2d(as_numbers(obs)), np.atleast_2d(self.space.vectors(action))
        wanted = (len(obs), self.obs_dim), (len(obs), self.space.size)
        if (obs.shape, vectors.shape) != wanted:
            raise DataError(
                f"The counter wants observations and actions of {self.obs_dim} and "
                f"{self.space.size} numbers, one of each per pair; got shapes {list(obs.shape)} "
                f"and {list(np.shape(action))}."
            )
        if not np.isfinite(vectors).all():
            raise DataError("Actions must be finite numbers; no other was ever logged.")
        pairs = np.concatenate([obs, vectors], axis=1)
        with np.errstate(over="ignore"):
            x = (pairs - self.mean) / self._divisor
        return [x[at : at + COUNT_BLOCK] for at in range(0, max(1, len(x)), COUNT_BLOCK)]

    @cached_property
    def _divisor(self) -> np.ndarray:
        return np.where(self.std == 0, np.float32(1), self.std)

    def _members(self, x: np.ndarray) -> np.ndarray:
        words, known = self.coder.codes(x)
        return np.where(known, self.tables.lookup(words), 0)

    def _counted(self, members: np.ndarray) -> Counted:
        count = joined(members, self.use.estimate, self.use.alpha)
        return Counted(members=members, count=count, level=level_of(members, count, self.thin))

    def _with(self, more: Any) -> Counts:
        pairs = zip(self.tables.each, more, strict=True)
        try:
            tables = tuple(ours.merge(new) if new else ours for ours, new in pairs)
        except OverflowError as error:
            raise DataError(f"These counts cannot be added up: {error}.") from error
        return replace(self, tables=Tables(tables))

    def _problem(self) -> str | None:
        coder = self.coder
        arrays = {"mean": self.mean, "std": self.std, **coder.to_arrays()}
        wrong = [n for n, a in arrays.items() if a.dtype.kind != "f" or not _only_finite(n, a)]
        if wrong:
            return f"`{wrong[0]}` holds other than finite numbers"
        if said := coder.problem():
            return said
        if len(self.tables.each) != coder.members:
            return f"it has {len(self.tables.each)} tables for {coder.members} members"
        for table in self.tables.each:
            if said := table.problem():
                return said
            if table.words.shape[1] != coder.words:
                return "its tables hold codes of another length"
        return self._scale_problem()

    def _scale_problem(self) -> str | None:
        size, space = (self.coder.inputs,), self.space
        if self.mean.shape != size or self.std.shape != size or (self.std < 0).any():
            return "the scale of its columns is of another size"
        if space.low.shape != space.high.shape or not (space.low < space.high).all():
            return "its action bounds are empty or of two sizes"
        if not np.isfinite([self.thin, self.use.alpha]).all() or self.thin < 0:
            return "its thresholds are not finite"
        return None if len(self.mean) > space.size else "its actions are larger than its pairs"


def _only_finite(name: str, array: np.ndarray) -> bool:
    """Whether all numbers are finite; the known numbers of an exact counter end in infinities."""
    known = np.isfinite(array)
    return bool((known | (array == np.inf)).all() if name == "values" else known.all())
