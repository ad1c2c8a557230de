import h5py
import numpy as np
import pytest

from countmorl.data import foreign
from countmorl.data.readers.hdf5_files import (
    attributes,
    described,
    opened,
    read_array,
    read_ids,
    refuse_unsafe,
    tree,
    values_of,
)
from countmorl.errors import DataError


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["a/b"] = np.arange(3.0)
        file["c"] = np.arange(2)
        file["link"] = h5py.SoftLink("/c")
    return tmp_path / "x.hdf5"


def test_groups_are_trees(path):
    with opened(path) as file:
        values = values_of(tree(path, file, ["a", "c"]))
        assert described(file, ["a", "c", "link"]) == ("a/", "c", "link")
    assert (values["a"]["b"].tolist(), values["c"].tolist()) == ([0, 1, 2], [0, 1])


def test_links_are_refused(path):
    with opened(path) as file, pytest.raises(DataError, match="links to other files"):
        tree(path, file, ["link"])


def test_more_than_is_free_is_refused(path, monkeypatch):
    # Three floats are kept in 4 bytes each; of two whole numbers of 8 bytes there is a copy.
    monkeypatch.setattr(foreign, "available_memory", lambda: 3 * 4 + 2 * (8 + 4))
    with opened(path) as file:
        refuse_unsafe(path, tree(path, file, ["a", "c"]))
    monkeypatch.setattr(foreign, "available_memory", lambda: 3 * 4 + 2 * (8 + 4) - 1)
    with opened(path) as file, pytest.raises(DataError, match="GB of numbers, more than"):
        refuse_unsafe(path, tree(path, file, ["a", "c"]))


def test_a_group_within_itself_is_not_read_for_ever(path):
    with h5py.File(path, "a") as file:
        file["a/again"] = file["a"]
    with opened(path) as file, pytest.raises(DataError, match=r"group `/a.*under two names"):
        tree(path, file, ["a"])


@pytest.mark.parametrize("code", [h5py.h5z.FILTER_SCALEOFFSET, h5py.h5z.FILTER_NBIT, 32001])
def test_strange_filters_are_refused_before_a_plugin_is_looked_for(path, code):
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_chunk((4,))
    if code == h5py.h5z.FILTER_SCALEOFFSET:
        plan.set_scaleoffset(h5py.h5z.SO_INT, 0)
    else:
        plan.set_filter(code, h5py.h5z.FLAG_OPTIONAL, ())
    with h5py.File(path, "a") as file:
        space = h5py.h5s.create_simple((4,))
        h5py.h5d.create(file.id, b"packed", h5py.h5t.NATIVE_INT32, space, plan)
    with opened(path) as file, pytest.raises(DataError, match=rf"filter {code} .*h5repack"):
        refuse_unsafe(path, tree(path, file, ["packed"]))


def int24():
    strange = h5py.h5t.STD_I32LE.copy()
    strange.set_size(3)
    return strange


@pytest.mark.parametrize("kind", [int24(), h5py.h5t.UNIX_D32LE], ids=["int24", "time"])
def test_numbers_that_numpy_does_not_know_are_said(path, kind):
    with h5py.File(path, "a") as file:
        h5py.h5d.create(file.id, b"odd", kind, h5py.h5s.create_simple((4,)))
    with pytest.raises(DataError, match="not a readable HDF5 file"), opened(path) as file:
        values_of(tree(path, file, ["odd"]))


class TestAttributes:
    def test_text_of_either_kind(self, path):
        with h5py.File(path, "a") as file:
            file.attrs["fixed"] = np.bytes_("Pendulum-v1")
            file.attrs["long"] = "Größe"
            file.attrs["number"] = 3
            file.attrs["list"] = np.array([b"a", b"b"])
        with opened(path) as file:
            names = ("fixed", "long", "number", "list", "absent")
            assert attributes(path, file, names) == {"fixed": "Pendulum-v1", "long": "Größe"}

    def test_text_of_a_fixed_length_needs_no_child(self, path, monkeypatch):
        monkeypatch.setattr("subprocess.run", None)
        with h5py.File(path, "a") as file:
            file.attrs["fixed"] = np.bytes_("Pendulum-v1")
        with opened(path) as file:
            assert attributes(path, file, ["fixed"]) == {"fixed": "Pendulum-v1"}


class TestIds:
    def test_text_becomes_numbers(self, path):
        with h5py.File(path, "a") as file:
            file["long"] = ["b", "b", "a", "b"]
            file["fixed"] = np.array([b"x", b"y"])
        with opened(path) as file:
            assert read_ids(path, file["long"]).tolist() == [0, 0, 1, 0]
            assert read_ids(path, file["fixed"]).tolist() == [b"x", b"y"]
            assert read_ids(path, file["c"]).tolist() == [0, 1]

    def test_sequences_are_refused(self, path):
        with h5py.File(path, "a") as file:
            file.create_dataset("long", (2,), h5py.vlen_dtype(np.int32))
        with opened(path) as file, pytest.raises(DataError, match="wanted real numbers"):
            read_ids(path, file["long"])


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(DataError, match="There is no file"), opened(tmp_path / "none.hdf5"):
        pass
    (tmp_path / "text.hdf5").write_text("hello")
    with pytest.raises(DataError, match="not a readable HDF5 file"), opened(tmp_path / "text.hdf5"):
        pass


def test_arrays_are_read_in_the_type_that_is_kept(path):
    with opened(path) as file:
        array, lost = read_array("a", file["a/b"])
        assert (array.dtype, lost) == (np.float32, ())
        assert read_array("c", file["c"])[0].dtype == np.int64
