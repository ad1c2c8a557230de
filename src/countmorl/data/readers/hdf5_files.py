"""HDF5 files opened with care: nothing of another file is read, and no more than memory holds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from countmorl.data.precision import Loss, narrowed
from countmorl.errors import DataError

Tree = dict[str, Any]
"""Datasets by name; a group is a tree of its own."""


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open a file; what cannot be read of it is a `DataError`."""
    try:
        with h5py.File(path, "r") as file:
            yield file
    except FileNotFoundError as error:
        raise DataError(
            f"There is no file {path}. Check the path; `countmorl data list` shows what has a name."
        ) from error
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise DataError(
            f"{path} is not a readable HDF5 file: {error}. If it was downloaded, delete it and "
            "download it again."
        ) from error


def tree(path: Path, group: h5py.Group, names: Iterable[str]) -> Tree:
    """Members of a group, groups within it and all.

    Only plain data of this very file: a link could name any file of this machine.
    """
    found: Tree = {}
    for name in names:
        if type(group.get(name, getlink=True)) is not h5py.HardLink:
            raise DataError(f"{path} links to other files, which is not allowed in a dataset.")
        item = group[name]
        if isinstance(item, h5py.Group):
            found[name] = tree(path, item, map(str, item))
        elif isinstance(item, h5py.Dataset):
            found[name] = item
    return found


def refuse_unsafe(path: Path, datasets: Tree) -> None:
    """Raise where data lie in another file, or are more than this machine holds."""
    flat = list(_flat(datasets))
    for key, dataset in flat:
        if dataset.shape is None:
            raise DataError(f"`{key}` of {path} is empty.")
        if dataset.external or dataset.is_virtual:
            raise DataError(f"`{key}` of {path} is stored in another file, which is not allowed.")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    size = sum((dataset.size or 0) * 4 for _, dataset in flat)
    if size > memory:
        raise DataError(
            f"{path} holds {size / 1e9:,.0f} GB of numbers, more than the {memory / 1e9:,.0f} GB "
            "of memory here. Is it damaged? Else cut it into parts."
        )


def _flat(datasets: Tree, before: str = "") -> Iterator[tuple[str, h5py.Dataset]]:
    for name, item in datasets.items():
        if isinstance(item, dict):
            yield from _flat(item, f"{before}{name}/")
        else:
            yield f"{before}{name}", item


def values_of(item: Any) -> Any:
    """The arrays of a dataset, or of a tree of them."""
    if isinstance(item, dict):
        return {name: values_of(each) for name, each in item.items()}
    return np.asarray(item[()])


def read_array(key: str, dataset: h5py.Dataset) -> tuple[np.ndarray, tuple[Loss, ...]]:
    """Read once, straight into the type we keep, so no second copy of the file is ever held."""
    if dataset.dtype.kind == "f" and dataset.dtype != np.float32:
        return narrowed(key, dataset)
    return np.asarray(dataset[()]), ()


def described(group: h5py.Group, names: Iterable[str]) -> tuple[str, ...]:
    """Names of what is not read; a group's ends in a slash."""
    return tuple(f"{name}/" if _is_group(group, name) else name for name in names)


def _is_group(group: h5py.Group, name: str) -> bool:
    """Nothing behind a link is looked at."""
    hard = type(group.get(name, getlink=True)) is h5py.HardLink
    return hard and group.get(name, getclass=True) is h5py.Group
