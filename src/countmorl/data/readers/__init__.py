"""One file per format: each turns a source into `Fields`, none checks values.

A new format is a file with `read(path, *, options) -> Fields` and a row here.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.data.readers.hdf5 import hdf5_arrays, read_hdf5, write_hdf5
from countmorl.data.readers.minari import PREFIX, read_minari
from countmorl.data.readers.npz import npz_arrays, read_npz, write_npz

READERS: dict[str, Callable[..., Fields]] = {
    ".hdf5": read_hdf5,
    ".h5": read_hdf5,
    ".npz": read_npz,
}
"""Who reads a file, by its ending."""

PREFIXES: dict[str, Callable[..., Fields]] = {PREFIX: read_minari}
"""Who reads what is named by a prefix, such as minari:ID."""

ARRAYS: dict[str, Callable[..., tuple[dict[str, np.ndarray], tuple[str, ...]]]] = {
    ".hdf5": hdf5_arrays,
    ".h5": hdf5_arrays,
    ".npz": npz_arrays,
}
"""Who reads single arrays of a file, by its ending, where that saves reading all."""

WRITERS: dict[str, Callable[[Dataset, Path], None]] = {
    ".hdf5": write_hdf5,
    ".h5": write_hdf5,
    ".npz": write_npz,
}
"""Who writes a file, by its ending."""
