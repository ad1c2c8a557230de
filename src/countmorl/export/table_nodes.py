"""Codes, the tables that count them, and what a count says, as operations of a graph.

ONNX multiplies no unsigned numbers of 32 bits, so codes are kept in 64 and cut back by masks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from countmorl.export.nodes import INT64, Nodes
from countmorl.runtime.levels import SIGNS
from countmorl.runtime.tables import LAST_ODD, ODD, WORD, Table

MASK = 2**WORD - 1
HALF = 2 ** (WORD // 2)


def packed_bits(nodes: Nodes, bits: str, count: int) -> str:
    """Bits [members, n, bits] as words [members, n, words]: sums of powers of two, exact."""
    places = np.zeros((count, -(-count // WORD)))
    places[np.arange(count), np.arange(count) // WORD] = 2.0 ** (np.arange(count) % WORD)
    return nodes("Cast", nodes("MatMul", nodes.wide(bits), nodes.double(places)), to=INT64)


def looked_up(nodes: Nodes, words: str, tables: Sequence[Table]) -> str:
    """How often each member's codes [members, n, words] were counted, [members, n]."""
    codes = np.cumsum([0, *map(len, tables)])
    edges = np.cumsum([0, *(len(table.starts) for table in tables)])
    shifts = [[2 ** (WORD - table.bits)] for table in tables]
    starts = np.concatenate(
        [np.int64(t.starts) + at for t, at in zip(tables, codes[:-1], strict=True)]
    )
    mixed = _hashed(nodes, words, tables[0].words.shape[1])
    bucket = nodes("Add", nodes("Div", mixed, nodes.whole(shifts)), nodes.whole(edges[:-1, None]))
    every_start = nodes.whole(starts)
    start = nodes("Gather", every_start, bucket)
    stop = nodes("Gather", every_start, nodes("Add", bucket, nodes.whole(1)))
    all_words = nodes.whole(np.concatenate([table.words for table in tables]))
    all_counts = nodes.whole(np.concatenate([table.counts for table in tables]))
    found = ""
    for step in range(max(int(np.diff(table.starts).max()) for table in tables)):
        place = nodes("Add", start, nodes.whole(step))
        left = nodes("Less", place, stop)
        entry = nodes("Where", left, place, nodes.whole(0))
        same = nodes.every(nodes("Equal", nodes("Gather", all_words, entry), words), axis=2)
        hit = nodes("And", left, same)
        count = nodes("Where", hit, nodes("Gather", all_counts, entry), nodes.whole(0))
        found = nodes("Add", found, count) if found else count
    return found


def joined_count(
    nodes: Nodes, members: str, estimate: str, alpha: float, thin: float
) -> dict[str, str]:
    """Count and level of pairs, of the members' counts [members, n]."""
    number = nodes("Slice", nodes("Shape", members), nodes.whole([0]), nodes.whole([1]))
    total = nodes("ReduceSum", members, nodes.whole([0]), keepdims=0)
    count = nodes("Div", nodes.wide(total), nodes.wide(number))
    if SIGNS[estimate]:
        squares = nodes("ReduceSum", nodes("Mul", members, members), nodes.whole([0]), keepdims=0)
        spread = nodes("Sub", nodes("Mul", number, squares), nodes("Mul", total, total))
        others = nodes("Max", nodes("Sub", number, nodes.whole(1)), nodes.whole(1))
        variance = nodes("Div", nodes.wide(spread), nodes.wide(nodes("Mul", number, others)))
        moved = nodes("Mul", nodes.double(SIGNS[estimate] * alpha), nodes("Sqrt", variance))
        count = nodes("Add", count, moved)
    missed = nodes("Cast", nodes("Equal", members, nodes.whole(0)), to=INT64)
    missed = nodes("ReduceSum", missed, nodes.whole([0]), keepdims=0)
    unseen = nodes("Greater", nodes("Mul", missed, nodes.whole(2)), number)
    thin_or_not = nodes(
        "Where", nodes("Less", count, nodes.double(thin)), nodes.whole(1), nodes.whole(2)
    )
    return {"count": count, "level": nodes("Where", unseen, nodes.whole(0), thin_or_not)}


def _hashed(nodes: Nodes, words: str, size: int) -> str:
    """`hash_words` of the runtime."""
    mixed = ""
    for index in range(size):
        word = nodes("Gather", words, nodes.whole(index), axis=2)
        mixed = nodes("BitwiseXor", mixed, word) if mixed else word
        mixed = _times(nodes, mixed, ODD[index % len(ODD)])
        mixed = nodes("BitwiseXor", mixed, nodes("Div", mixed, nodes.whole(2**15)))
    shifted = nodes("Div", mixed, nodes.whole(2**13))
    return nodes("BitwiseXor", _times(nodes, mixed, LAST_ODD), shifted)


def _times(nodes: Nodes, x: str, factor: int) -> str:
    """x times a factor in 32 bits, by halves of the factor: no product leaves 64 bits."""
    low = nodes("Mul", x, nodes.whole(factor % HALF))
    high = nodes("BitwiseAnd", nodes("Mul", x, nodes.whole(factor // HALF)), nodes.whole(HALF - 1))
    whole = nodes("Add", low, nodes("Mul", high, nodes.whole(HALF)))
    return nodes("BitwiseAnd", whole, nodes.whole(MASK))
