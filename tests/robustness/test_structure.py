"""Logs of every strange structure: arrays of any name, type, shape and value."""

import contextlib
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countmorl.data.aliases import ALIASES
from countmorl.data.dataset import Dataset
from countmorl.data.readers.mapping import read_mapping
from countmorl.errors import CountMorlError
from robustness.data_formats import sound, use

# Users have no checked annotations that would stop what is wrong.
pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

ROWS = 6
EXTREMES = (0, 1, -1, 0.5, 3e38, -3e38, 1e300, 1e-45, np.nan, np.inf, -np.inf, 2**31, 2**53)
NAMES = st.sampled_from([name for names in ALIASES.values() for name in names[:2]] + ["camera"])
TYPES = st.sampled_from(
    ["f2", "f4", ">f4", "f8", "i1", "i8", "u1", "u8", "?", "S3", "c8", "V4", "g", "M8[s]"]
)
SHAPES = st.sampled_from(
    [(ROWS,), (ROWS, 1), (ROWS, 3), (), (0,), (1,), (ROWS, 0), (ROWS - 1, 3), (ROWS, 2, 2), (2, 3)]
)


@st.composite
def strange(draw) -> np.ndarray:
    """Any array; its numbers are often extreme."""
    dtype, shape = np.dtype(draw(TYPES)), draw(SHAPES)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if dtype.kind in "fiub":
        with np.errstate(all="ignore"):
            return rng.choice(EXTREMES[: draw(st.sampled_from((2, 5, None)))], shape).astype(dtype)
    raw = rng.bytes(dtype.itemsize * int(np.prod(shape)))
    return np.frombuffer(raw, dtype).reshape(shape)


@st.composite
def logs(draw) -> dict[str, np.ndarray]:
    """A clean log of few rows with a few arrays added, left out or replaced."""
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "observations": rng.standard_normal((ROWS, 3)),
        "actions": rng.uniform(-1, 1, (ROWS, 2)),
        "rewards": rng.standard_normal(ROWS),
        "terminals": np.arange(ROWS) == 3,
    }
    for name in draw(st.lists(st.sampled_from(sorted(arrays)), max_size=1)):
        del arrays[name]
    return arrays | draw(st.dictionaries(NAMES, strange(), min_size=1, max_size=3))


many = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
refused = contextlib.suppress(CountMorlError)
"""Whatever is not understood ends in a sentence of ours, and in nothing else."""


@many
@given(logs())
def test_in_an_npz_file(tmp_path, arrays):
    np.savez(tmp_path / "log.npz", **arrays)
    with refused:
        use(tmp_path / "log.npz")


@many
@given(logs(), st.booleans(), st.sampled_from(["log", "hopper_mine"]))
def test_in_an_hdf5_file(tmp_path, arrays, as_attributes, name):
    path = tmp_path / f"{name}.hdf5"
    with h5py.File(path, "w") as file:
        for key, values in arrays.items():
            if values.dtype.kind == "M":
                values = values.astype(np.int64)
            file.create_dataset(key, data=values)
            if as_attributes:
                file.attrs[key] = values
                file.attrs["env_id"] = values
    with refused:
        use(path)


@many
@given(st.lists(logs(), min_size=1, max_size=3))
def test_in_episodes_of_an_hdf5_file(tmp_path, episodes):
    with h5py.File(tmp_path / "log.hdf5", "w") as file:
        for number, arrays in enumerate(episodes):
            for key, values in arrays.items():
                if values.dtype.kind != "M":
                    file.create_dataset(f"episode_{number}/{key}", data=values)
    with refused:
        use(tmp_path / "log.hdf5")


@many
@given(logs())
def test_in_memory(arrays):
    with refused:
        sound(Dataset.of(read_mapping(arrays)))
