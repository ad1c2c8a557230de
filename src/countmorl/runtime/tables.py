"""Exact tables of binary codes: how often each code was seen. NumPy only.

A table holds each distinct code once, ordered by a hash of its words; `starts` says where each
bucket of hashes begins. A query looks at the entries of its one bucket and compares whole codes, so
counts are exact, and a code that was not seen counts 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

WORD = 32
ODD = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)
LAST_ODD = 0x2C1B3C6D
MOST_COUNT = 2**31 - 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """Distinct codes, how often each was seen, and where each bucket begins."""

    words: np.ndarray
    """[codes, words], 32 bits each."""
    counts: np.ndarray
    """[codes]"""
    starts: np.ndarray
    """[buckets + 1]; the last entry is where the last bucket ends."""

    @classmethod
    def of(cls, words: np.ndarray, weights: np.ndarray | None = None) -> Table:
        """Count packed codes [rows, words]; with `weights`, each row stands for so many."""
        words = np.ascontiguousarray(words, np.uint32)
        keys, inverse = np.unique(ranks(words), return_inverse=True)
        first = np.zeros(len(keys), np.int64)
        first[inverse] = np.arange(len(words))
        counts = np.bincount(inverse, weights, minlength=len(keys))
        if counts.max(initial=0) > MOST_COUNT:
            raise OverflowError(f"a code was seen more than {MOST_COUNT:,} times")
        distinct = words[first]
        bits = max(1, int(np.ceil(np.log2(2 * len(distinct) + 1))))
        bucket = hash_words(distinct, np) >> np.uint32(WORD - bits)
        order = np.argsort(bucket, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(bucket, minlength=2**bits))])
        return cls(
            words=distinct[order],
            counts=counts.astype(np.int32)[order],
            starts=starts.astype(np.int32),
        )

    def merge(self, other: Table) -> Table:
        """Add the counts of two tables: the table of both datasets together."""
        both = (self, other)
        return Table.of(
            np.concatenate([each.words for each in both]),
            np.concatenate([each.counts for each in both]),
        )

    @property
    def bits(self) -> int:
        """Bits of a hash that tell its bucket."""
        return (len(self.starts) - 2).bit_length()

    def problem(self) -> str | None:
        """Why nothing can be looked up here; None where it can."""
        words, counts, starts = self.words, self.counts, self.starts
        shapes = (words.ndim, counts.ndim, starts.ndim) == (2, 1, 1) and len(words) == len(counts)
        kinds = words.dtype == np.uint32 and {counts.dtype.kind, starts.dtype.kind} <= {"i", "u"}
        if not shapes or not kinds or len(starts) < 3 or not words.size:
            return "its arrays are not those of a table"
        sizes = np.diff(starts.astype(np.int64))
        whole = len(sizes) == 1 << self.bits and self.bits < WORD
        if not whole or starts[0] != 0 or starts[-1] != len(counts) or (sizes < 0).any():
            return "its buckets do not fit its codes"
        bucket = hash_words(words, np) >> np.uint32(WORD - self.bits)
        if (bucket != np.repeat(np.arange(len(sizes)), sizes)).any() or (counts < 1).any():
            return "its codes are not where they belong, or were never seen"
        return None

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, eq=False)
class Tables:
    """One table a member, asked together."""

    each: tuple[Table, ...]

    def lookup(self, words: np.ndarray) -> np.ndarray:
        """How often each member's codes [members, n, words] were counted, [members, n]."""
        all_words, counts, starts, first, shift = self._joined
        bucket = (hash_words(words, np) >> shift) + first
        place, stop = starts[bucket], starts[bucket + 1]
        found = np.zeros(place.shape, np.int64)
        while (left := place < stop).any():
            # Behind its bucket's end a code looks at any other one: what it finds is not taken.
            entry = place * left
            same = left & (all_words[entry] == words).all(axis=-1)
            found += counts[entry] * same
            place += 1
            stop = stop * ~same
        return found

    def merge(self, others: Sequence[Table]) -> Tables:
        """Add up two datasets', member by member."""
        return Tables(tuple(a.merge(b) for a, b in zip(self.each, others, strict=True)))

    @cached_property
    def _joined(self) -> tuple[np.ndarray, ...]:
        """All tables behind each other, and where the buckets of each begin."""
        codes = np.cumsum([0, *map(len, self.each)])
        edges = np.cumsum([0, *(len(table.starts) for table in self.each)])
        starts = [
            t.starts.astype(np.int64) + at for t, at in zip(self.each, codes[:-1], strict=True)
        ]
        shift = np.array([[WORD - table.bits] for table in self.each], np.uint32)
        return (
            np.concatenate([table.words for table in self.each]),
            np.concatenate([table.counts for table in self.each]),
            np.concatenate(starts),
            edges[:-1, None],
            shift,
        )


def packed(bits: np.ndarray) -> np.ndarray:
    """Pack bits [..., bits] into 32-bit words, the first bit lowest."""
    missing = -bits.shape[-1] % WORD
    if missing:
        room = np.zeros((*bits.shape[:-1], missing), bool)
        bits = np.concatenate([bits, room], axis=-1)
    whole = np.packbits(bits, axis=-1, bitorder="little")
    return whole.view("<u4").astype(np.uint32, copy=False)


def hash_words(words: Any, xp: Any) -> Any:
    """Mix the words of a code into 32 bits; the same in NumPy and in compiled code."""
    mixed = xp.zeros(words.shape[:-1], xp.uint32)
    for index in range(words.shape[-1]):
        mixed = (mixed ^ words[..., index]) * np.uint32(ODD[index % len(ODD)])
        mixed = mixed ^ (mixed >> np.uint32(15))
    return (mixed * np.uint32(LAST_ODD)) ^ (mixed >> np.uint32(13))


def ranks(words: np.ndarray) -> np.ndarray:
    """Give equal codes equal 64-bit numbers and different codes different ones, exactly."""
    keys = words[:, 0].astype(np.uint64)
    for column in words.T[1:]:
        _, places = np.unique(keys, return_inverse=True)
        keys = places.astype(np.uint64) << np.uint64(WORD) | column
    return keys
