"""HDF5 files opened with care: nothing of another file is read, and no more than memory holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from countmorl.data.columns import real_numbers
from countmorl.data.foreign import SINGLE, bytes_needed, check_room, reading
from countmorl.data.precision import Loss, narrowed
from countmorl.data.readers.hdf5_text import read_numbered, read_texts
from countmorl.errors import DataError
from countmorl.machine import available_memory

Tree = dict[str, Any]
"""Datasets by name; a group is a tree of its own."""

ADVICE = "If it was downloaded, delete it and download it again."
PACKING = (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_LZF)
FILTERS = (*PACKING, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32)
"""How numbers may be packed. For any other way libhdf5 loads whatever program the environment
names, or code that was not made for damaged files."""
SPARE = 1000
"""Bytes by which packing may make a small chunk larger."""
LONGEST = 1_000_000
"""Bytes of the longest attribute that is read."""


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open a file; what cannot be read of it is a `DataError`."""
    with reading(path, "HDF5 file", ADVICE), h5py.File(path, "r") as file:
        yield file


def member(path: Path, group: h5py.Group, name: str) -> Any:
    """A member of a group; only of this very file: a link could name any file of this machine."""
    if type(group.get(name, getlink=True)) is not h5py.HardLink:
        raise DataError(f"{path} links to other files, which is not allowed in a dataset.")
    return group[name]


def tree(path: Path, group: h5py.Group, names: Iterable[str], seen: set[int] | None = None) -> Tree:
    """Members of a group, groups within it and all; `seen` are the places of earlier groups."""
    found, seen = Tree(), set() if seen is None else seen
    for name in names:
        item = member(path, group, name)
        if isinstance(item, h5py.Group):
            place = h5py.h5o.get_info(item.id).addr  # type: ignore[attr-defined]
            if place in seen:  # Else a group that holds itself would be read for ever.
                raise DataError(f"{path} holds the group `{item.name}` under two names; keep one.")
            seen.add(place)
            found[name] = tree(path, item, map(str, item), seen)
        elif isinstance(item, h5py.Dataset):
            found[name] = item
    return found


def refuse_unsafe(path: Path, datasets: Tree, *, whole: bool = True) -> None:
    """Raise where data lie elsewhere, are packed in a strange way, or are more than memory.

    What is read in parts and not as a whole may be more than memory.
    """
    flat = list(_flat(datasets))
    for key, dataset in flat:
        if dataset.shape is None:
            raise DataError(f"`{key}` of {path} is empty.")
        if dataset.external or dataset.is_virtual:
            raise DataError(f"`{key}` of {path} is stored in another file, which is not allowed.")
        _refuse_filters(path, key, dataset)
    if whole:
        check_room(path, sum(_bytes(dataset) for _, dataset in flat))


def _refuse_filters(path: Path, key: str, dataset: h5py.Dataset) -> None:
    plan = dataset.id.get_create_plist()
    if plan.get_layout() != h5py.h5d.CHUNKED:
        return
    codes = [plan.get_filter(index)[0] for index in range(plan.get_nfilters())]
    strange = [code for code in codes if code not in FILTERS]
    if strange:
        raise DataError(
            f"`{key}` of {path} is packed by filter {strange[0]} of HDF5; known are gzip and lzf. "
            f"Repack it: h5repack -f GZIP=1 {path.name} new{path.suffix}."
        )
    _refuse_chunks(path, key, dataset, codes)


def _refuse_chunks(path: Path, key: str, dataset: h5py.Dataset, codes: list[int]) -> None:
    """Raise where the index of chunks cannot be right: libhdf5 crashes on chunks of no bytes."""
    whole = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    end, wrong = path.stat().st_size, []

    def look(chunk: Any) -> None:
        used = [code for place, code in enumerate(codes) if not chunk.filter_mask >> place & 1]
        least = 1 if set(used) & set(PACKING) else whole
        if not least <= chunk.size <= 2 * whole + SPARE or chunk.byte_offset + chunk.size > end:
            wrong.append(chunk)

    dataset.id.chunk_iter(look)
    if wrong:
        raise DataError(f"`{key}` of {path} is damaged: its chunks cannot have these sizes.")


def _bytes(dataset: h5py.Dataset) -> int:
    """Floats are read block by block into what is kept; text becomes numbers."""
    count = int(np.prod(dataset.shape, dtype=object))
    if dataset.dtype.kind in "fO":
        return count * 2 * SINGLE if dataset.dtype.kind == "O" else count * SINGLE
    return bytes_needed(dataset.dtype, count)


def _flat(datasets: Tree, before: str = "") -> Iterator[tuple[str, h5py.Dataset]]:
    for name, item in datasets.items():
        if isinstance(item, dict):
            yield from _flat(item, f"{before}{name}/")
        else:
            yield f"{before}{name}", item


def values_of(item: Any, key: str = "") -> Any:
    """The arrays of a dataset, or of a tree of them: numbers only."""
    if isinstance(item, dict):
        return {name: values_of(each, name) for name, each in item.items()}
    real_numbers(key, item.dtype)
    return np.asarray(item[()])


def read_array(key: str, dataset: h5py.Dataset) -> tuple[np.ndarray, tuple[Loss, ...]]:
    """Read once, straight into the type we keep, so no second copy of the file is ever held."""
    if dataset.dtype.kind == "f" and dataset.dtype != np.float32:
        return narrowed(key, dataset)
    if dataset.dtype.kind != "S":  # Text of a fixed length may be an id.
        real_numbers(key, dataset.dtype)
    return np.asarray(dataset[()]), ()


def read_ids(path: Path, dataset: h5py.Dataset) -> np.ndarray:
    """Ids as they are; text of any length as numbers, equal where the text is equal."""
    if dataset.dtype.kind != "O" or not h5py.check_string_dtype(dataset.dtype):
        return read_array("episode", dataset)[0]
    numbers = read_numbered(path, str(dataset.name), dataset.size or 0, available_memory())
    return np.array(numbers, np.int64).reshape(dataset.shape)


def attributes(path: Path, file: h5py.File, names: Iterable[str]) -> dict[str, str]:
    """Texts among a file's attributes; whatever else has such a name is passed over."""
    texts, long = {}, []
    for name in names:
        if not h5py.h5a.exists(file.id, name.encode()):
            continue
        stored = h5py.h5a.open(file.id, name.encode())
        kind = stored.get_type()
        if not isinstance(kind, h5py.h5t.TypeStringID) or stored.shape != ():
            continue
        if kind.is_variable_str():
            long.append(name)
        elif kind.get_size() <= LONGEST:
            value = np.empty((), stored.dtype)
            stored.read(value)
            texts[name] = value.tobytes().rstrip(b"\0").decode("utf-8", "replace")
    return texts | (read_texts(path, long, available_memory()) if long else {})


def described(group: h5py.Group, names: Iterable[str]) -> tuple[str, ...]:
    """Names of what is not read; a group's ends in a slash."""
    return tuple(f"{name}/" if _is_group(group, name) else name for name in names)


def _is_group(group: h5py.Group, name: str) -> bool:
    """Nothing behind a link is looked at."""
    hard = type(group.get(name, getlink=True)) is h5py.HardLink
    return hard and group.get(name, getclass=True) is h5py.Group
