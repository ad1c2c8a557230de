import h5py
import numpy as np
import pytest

from countmorl.data.readers import hdf5_text
from countmorl.data.readers.hdf5_text import read_numbered, read_texts


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file.attrs["text"] = "Größe"
        file["ids"] = ["b", "a", "b", "c"]
    return tmp_path / "x.hdf5"


def test_texts_and_columns_of_texts(path):
    assert read_texts(path, ["text"]) == {"text": "Größe"}
    assert read_numbered(path, "ids", 4) == [0, 1, 0, 2]


def test_what_stands_in_the_users_folder_is_not_run(path, tmp_path):
    (tmp_path / "h5py.py").write_text("raise SystemExit(3)")
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    assert read_texts(path, ["text"]) == {"text": "Größe"}


def test_a_child_that_does_not_end_is_ended(path, monkeypatch):
    monkeypatch.setattr(hdf5_text, "LIMIT", 0.0)
    with pytest.raises(OSError, match="did not end within 0 seconds"):
        read_texts(path, ["text"])


def test_a_child_that_fails_says_why(path):
    with pytest.raises(OSError, match=r"its text cannot be read \(KeyError.*absent"):
        read_texts(path, ["absent"])


def test_one_long_text_in_every_row_stays_within_the_memory_that_is_given(path, tmp_path):
    with h5py.File(path, "a") as file:
        file.create_dataset("bomb", data=["x" * 100_000], dtype=h5py.string_dtype())
        reference = np.frombuffer(_raw(path, file["bomb"]), np.uint8)
    with h5py.File(path, "a") as file:
        rows = file.create_dataset("rows", (9_000,), h5py.string_dtype())
        rows[:] = "placeholder"
        offset = rows.id.get_offset()
    with open(path, "r+b") as raw:
        raw.seek(offset)
        raw.write(np.tile(reference, 9_000).tobytes())
    with pytest.raises(OSError, match="its text cannot be read"):
        read_numbered(path, "rows", 9_000, memory=500_000_000)


def _raw(path, dataset):
    """How a file refers to the one text of a dataset: its length, and its place in the heap."""
    dataset.file.flush()
    with open(path, "rb") as raw:
        raw.seek(dataset.id.get_offset())
        return raw.read(16)
