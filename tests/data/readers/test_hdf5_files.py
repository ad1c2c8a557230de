import h5py
import numpy as np
import pytest

from countmorl.data.readers.hdf5_files import (
    described,
    opened,
    read_array,
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


def test_more_than_memory_is_refused(path, monkeypatch):
    pages = {"SC_PAGE_SIZE": 4, "SC_PHYS_PAGES": 3}
    monkeypatch.setattr("os.sysconf", pages.__getitem__)
    with opened(path) as file, pytest.raises(DataError, match="GB of numbers, more than"):
        refuse_unsafe(path, tree(path, file, ["a", "c"]))


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
