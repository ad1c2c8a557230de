"""Files that are either whole or not there: atomic writes, and arrays without pickle."""

import hashlib
import json
import math
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.disk import (
    SAFELY,
    explained_read,
    explained_write,
    own_file,
    sync_folder,
    write_all,
)
from countmorl.errors import ConfigError, RunError
from countmorl.json_files import parse_text

Arrays = dict[str, np.ndarray]
MOST_NAME = 200
"""Characters of a file's name that its temporary file shares; names may have 255."""
TYPES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "float16": "F16",
    "uint32": "U32",
    "int32": "I32",
    "float32": "F32",
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
}
"""What safetensors calls NumPy's types."""
MOST_HEAD = 100_000_000
"""Bytes of a safetensors file's table; more is not one of ours."""
MOST_DIMENSIONS = 32


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it into place only if the block succeeds.

    The temporary file is there already, empty and ours: nobody can have put a link in its place,
    and it may be read by whom the user's umask lets.
    """
    with explained_write(path):
        if path.is_dir():
            raise RunError(f"{path} is a folder; wanted the name of a file to write.")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _temporary(path)
        try:
            yield temporary
            with own_file(temporary, os.O_RDWR) as file:
                os.fsync(file)
            os.replace(temporary, path)
            sync_folder(path.parent)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _temporary(path: Path) -> Path:
    """A new empty file beside `path`, whose name nobody could foresee."""
    mark = f"{os.getpid()}-{secrets.token_hex(8)}"
    temporary = path.with_name(f".{path.name[:MOST_NAME]}.{mark}.tmp")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFELY, 0o666))
    return temporary


def check_ending(path: Path, endings: tuple[str, ...]) -> None:
    """Raise where a file to write has an ending that is not known, before any work is done."""
    if path.suffix not in endings:
        raise ConfigError(f"{path} has the ending '{path.suffix}'; wanted {', '.join(endings)}.")


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary, own_file(temporary, os.O_WRONLY) as file:
        write_all(file, text.encode())


def digest(arrays: Mapping[str, np.ndarray], note: str = "") -> str:
    """Hash names, shapes, types and contents (SHA-256); `note` is hashed too."""
    state = hashlib.sha256(note.encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        state.update(f"{name}{array.dtype.str}{array.shape}".encode())
        state.update(array.reshape(-1).view(np.uint8).data)
    return state.hexdigest()


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write arrays and a JSON-able `meta` as safetensors, atomically, with a digest of both.

    Not by safetensors itself, whose errors on a failing disk are its own and which leaves the
    umask aside. The format is a length, a table in JSON, and the arrays behind each other.
    """
    # Not ascontiguousarray, which gives a scalar a dimension.
    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    # The widest types first: then every array begins where its type may.
    order = sorted(whole, key=lambda name: (-whole[name].itemsize, name))
    entry = {"digest": digest(whole, json.dumps(meta, sort_keys=True)), "meta": meta}
    table: dict[str, Any] = {"__metadata__": {"countmorl": json.dumps(entry, sort_keys=True)}}
    end = 0
    for name in order:
        begin, end = end, end + whole[name].nbytes
        kind, shape = TYPES[whole[name].dtype.name], list(whole[name].shape)
        table[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    head = json.dumps(table, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with atomic(path) as temporary, own_file(temporary, os.O_WRONLY) as file:
        write_all(file, len(head).to_bytes(8, "little") + head)
        for name in order:
            little = whole[name].astype(whole[name].dtype.newbyteorder("<"), copy=False)
            write_all(file, little.reshape(-1).view(np.uint8).data)


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Read what `write_arrays` wrote; a damaged or foreign file is a `RunError`."""
    with explained_read(path):
        if not stat.S_ISREG(os.stat(path).st_mode):  # Reading a pipe would never end.
            raise RunError(f"{path} is not a readable safetensors file: it is no ordinary file.")
        try:
            header, arrays = _read_tensors(path)
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise RunError(f"{path} is not a readable safetensors file: {error}") from error
    try:
        entry = parse_text(header["countmorl"])
        meta, wanted = entry["meta"], entry["digest"]
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"{path} was not written by countmorl: its description is missing."
        ) from error
    if not isinstance(meta, dict) or wanted != digest(arrays, json.dumps(meta, sort_keys=True)):
        raise RunError(
            f"{path} is damaged: its contents do not match their digest. Restore it from a copy."
        )
    return arrays, meta


def _read_tensors(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The metadata and the arrays of a safetensors file; a `ValueError` says what is wrong."""
    with open(path, "rb") as file:
        rest = os.fstat(file.fileno()).st_size - 8
        length = int.from_bytes(file.read(8), "little")
        if rest < 0 or length > min(rest, MOST_HEAD):
            raise ValueError("it is shorter than its table")
        table = parse_text(file.read(length))
        if not isinstance(table, dict):
            raise ValueError("its table is none")
        header = table.pop("__metadata__", None) or {}
        spans = {name: _span(name, entry) for name, entry in table.items()}
        arrays, end = {}, 0
        for name, (kind, shape, begin, stop) in sorted(spans.items(), key=lambda item: item[1][2:]):
            if begin != end or stop > rest - length:
                raise ValueError(f"'{name}' does not begin where the array before it ends")
            array = np.fromfile(file, kind, (stop - begin) // kind.itemsize).reshape(shape)
            arrays[name] = _native(name, array)
            end = stop
        if end != rest - length:
            raise ValueError("there is more in it than its table says")
    return header, arrays


def _span(name: str, entry: Any) -> tuple[np.dtype, tuple[int, ...], int, int]:
    """The type, the shape and the bytes of an array."""
    kinds = {stored: kind for kind, stored in TYPES.items()}
    if entry["dtype"] not in kinds:
        raise ValueError(f"'{name}' has numbers of the unknown type {entry['dtype']}")
    kind, shape = np.dtype(kinds[entry["dtype"]]).newbyteorder("<"), tuple(entry["shape"])
    begin, stop = entry["data_offsets"]
    whole = (*shape, begin, stop)
    if not all(type(each) is int and each >= 0 for each in whole) or len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"the shape of '{name}' is none")
    if stop - begin != math.prod(shape) * kind.itemsize:
        raise ValueError(f"'{name}' has another size than its shape")
    return kind, shape, begin, stop


def _native(name: str, array: np.ndarray) -> np.ndarray:
    """The array in this machine's order of bytes."""
    if array.dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise ValueError(f"'{name}' holds other than true and false")
    return array.astype(array.dtype.newbyteorder("="), copy=False)
