"""Damage to files: by bytes, which knows nothing of a format, and by structure, which does."""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.files import read_arrays, write_arrays

Damage = Callable[[Path, random.Random], None]
"""Spoils a file in place; the same generator, the same damage."""

EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)
WORDS = (b"\x00", b"\xff", b"NaN", b"-1", b"1e999", b"null", b"{}", b'"', b"\\u0000", b"\x1b[2J")


def by_bytes(path: Path, rng: random.Random) -> None:
    """Flip, set, cut out, repeat, insert or cut off, one to four times."""
    raw = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(raw) + 1)
        until = min(len(raw), at + rng.choice((1, 2, 8, 64, 512)))
        kind = rng.randrange(7)
        if kind == 0 and at < len(raw):
            raw[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(raw):
            raw[at] = rng.randrange(256)
        elif kind == 2:
            del raw[at:until]
        elif kind == 3:
            raw[at:at] = raw[at:until]
        elif kind == 4:
            raw[at:at] = rng.choice(WORDS)
        elif kind == 5:
            size = rng.choice((1, 2, 4, 8))
            raw[at : at + size] = (rng.choice(EDGES) % 256**size).to_bytes(size, "little")
        else:
            del raw[at:]
    path.write_bytes(raw)


def _nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**31, 2**63, 10**400, -(10**400), 0.5, 1e308, 5e-324),
    *(math.nan, math.inf, -math.inf, "", "x", "../../x", "\x1b[31m", "a:b", "\ud800", "a" * 5000),
    *([], {}, [[]], [0], [None], [1, [2]], {"a": 1}, {"": {}}, [math.nan], _nested(90)),
)
"""Values that a place in JSON may be given instead of its own."""


def strange_json(value: Any, rng: random.Random) -> Any:
    """The same tree with one of its places changed, taken away, doubled or renamed."""
    if not isinstance(value, (dict, list)) or not value or rng.random() < 0.1:
        return rng.choice(STRANGE)
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, copy = rng.choice(keys), value.copy()
    if rng.random() < 0.6:
        copy[key] = strange_json(value[key], rng)
    elif rng.random() < 0.4:
        del copy[key]
    elif isinstance(copy, dict):
        copy[rng.choice(("", "new", "stage", "epoch", str(key) + "x"))] = copy.pop(key)
    else:
        copy.insert(key, rng.choice(STRANGE))
    return copy


def by_json(path: Path, rng: random.Random) -> None:
    """Change the tree of a JSON file, once to three times."""
    value = json.loads(path.read_text())
    for _ in range(rng.randint(1, 3)):
        value = strange_json(value, rng)
    text = json.dumps(value)
    if rng.random() < 0.02:  # What no writer of trees would write.
        text = rng.choice(("[" * 100_000, "9" * 5_000, '{"a":' * 50_000, text + text))
    path.write_text(text)


def by_lines(path: Path, rng: random.Random) -> None:
    """Change one line of a JSON-lines file; drop, double or tear it."""
    lines = path.read_text().splitlines()
    at = rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind == 0:
        lines.insert(at, rng.choice(("", "{}", "[]", "3", lines[at], "[" * 100_000, "9" * 5_000)))
    elif kind == 1:
        del lines[at]
    else:
        lines[at] = json.dumps(strange_json(json.loads(lines[at]), rng))
    path.write_text("\n".join(lines) + rng.choice(("\n", "\n", "")))


def _strange_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    kind = rng.randrange(7)
    if kind == 0:
        return array.reshape(-1)
    if kind == 1:
        return array[..., None]
    if kind == 2:
        return array[:0] if array.ndim else array.reshape(1)[:0]
    if kind == 3:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice((np.float64, np.int32, np.uint8, np.bool_, np.float16)))
    if kind == 4:
        return np.concatenate([array, array]) if array.ndim else np.stack([array, array])
    spoiled = array.copy().reshape(-1)
    if spoiled.size:
        strange = (np.nan, np.inf, -np.inf, 3e38, -3e38, 0, -1, 1e-45, 2**31 - 1)
        with np.errstate(all="ignore"):
            value = np.array([rng.choice(strange)], np.float64).astype(array.dtype)
        spoiled[rng.randrange(spoiled.size) if rng.random() < 0.7 else slice(None)] = value[0]
    return spoiled.reshape(array.shape)


def by_forgery(path: Path, rng: random.Random) -> None:
    """Change arrays or the description of a file of ours, and give it a digest that fits."""
    arrays, meta = read_arrays(path)
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(sorted(arrays)) if arrays else "new"
        kind = rng.randrange(5)
        if kind == 0:
            meta = strange_json(meta, rng)
        elif kind == 1 and arrays:
            del arrays[name]
        elif kind == 2:
            arrays[rng.choice(("new", ".new[0]", name + "0"))] = np.zeros(3, np.float32)
        elif arrays:
            arrays[name] = _strange_array(arrays[name], rng)
    write_arrays(path, arrays, meta)
