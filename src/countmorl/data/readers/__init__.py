"""One file per format: each turns a source into `Fields`, none checks values.

A new format is a file with `read(path, *, options) -> Fields` and a row here.
"""

from collections.abc import Callable
from pathlib import Path

from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.data.readers.hdf5 import read_hdf5, write_hdf5
from countmorl.data.readers.minari import PREFIX, read_minari
from countmorl.data.readers.npz import read_npz, write_npz

READERS: dict[str, Callable[..., Fields]] = {
    ".hdf5": read_hdf5,
    ".h5": read_hdf5,
    ".npz": read_npz,
}
"""Who reads a file, by its ending."""

PREFIXES: dict[str, Callable[..., Fields]] = {PREFIX: read_minari}
"""Who reads what is named by a prefix, such as minari:ID."""

WRITERS: dict[str, Callable[[Dataset, Path], None]] = {
    ".hdf5": write_hdf5,
    ".h5": write_hdf5,
    ".npz": write_npz,
}
"""Who writes a file, by its ending."""
