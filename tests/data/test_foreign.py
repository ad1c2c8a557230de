import os

import numpy as np
import pytest

from countmorl.data import foreign
from countmorl.data.foreign import bytes_needed, check_room, kind_of, reading, user_path
from countmorl.data.sources import load, locate
from countmorl.errors import DataError


def test_a_home_that_nobody_has_is_said():
    for use in (user_path, load, locate):
        with pytest.raises(DataError, match="begins with ~no_such_user, but nobody of that name"):
            use("~no_such_user/log.npz")


@pytest.mark.parametrize("name", ["x" * 300, "y/" * 3000 + "log", "zero\0byte"])
@pytest.mark.parametrize("ending", ["", ".npz", ".hdf5"])
def test_names_that_no_file_can_have(name, ending):
    with pytest.raises(DataError, match=r"No dataset named|There is no file"):
        load(name + ending)


@pytest.mark.parametrize("ending", [".npz", ".hdf5"])
def test_a_pipe_is_not_waited_for(tmp_path, ending):
    os.mkfifo(tmp_path / f"log{ending}")
    with pytest.raises(DataError, match=r"is a pipe or a device. Copy"):
        load(tmp_path / f"log{ending}")


@pytest.mark.parametrize("ending", [".npz", ".hdf5"])
def test_a_folder_with_the_ending_of_a_file(tmp_path, ending):
    (tmp_path / f"log{ending}").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        load(tmp_path / f"log{ending}")


def test_kinds(tmp_path):
    assert kind_of(tmp_path / "none") is None
    assert kind_of(tmp_path) is not None


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "log needs more memory than there is"),
        (KeyError("x"), "is not a readable thing: 'x'. Do that."),
        (ValueError("two\nlines."), "is not a readable thing: two lines. Do that."),
        (AttributeError(), "is not a readable thing: AttributeError. Do that."),
        (ValueError("x" * 1000), r"x{297}\. Do that"),
    ],
)
def test_what_libraries_raise_becomes_a_sentence(tmp_path, error, words):
    (tmp_path / "log").touch()
    with pytest.raises(DataError, match=words), reading(tmp_path / "log", "thing", "Do that."):
        raise error


def test_our_own_sentences_pass(tmp_path):
    (tmp_path / "log").touch()
    with pytest.raises(DataError, match=r"^mine$"), reading(tmp_path / "log", "thing", ""):
        raise DataError("mine")


def test_bytes_by_hand():
    assert bytes_needed(np.dtype(np.float32), 10) == 40
    assert bytes_needed(np.dtype(np.int64), 10) == 10 * (8 + 4)
    assert bytes_needed(np.dtype("S100"), 10) == 10 * 104


def test_room(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign, "available_memory", lambda: 2_000_000_000)
    check_room(tmp_path, 2_000_000_000)
    with pytest.raises(DataError, match=r"holds 2.0 GB of numbers, more than the 2.0 GB"):
        check_room(tmp_path, 2_000_000_001)
    monkeypatch.setattr(foreign, "available_memory", lambda: None)
    check_room(tmp_path, 10**20)


def test_a_cache_folder_of_nobody(monkeypatch):
    monkeypatch.setenv("D4RL_DATASET_DIR", "~no_such_user/d4rl_folder")
    with pytest.raises(DataError, match="nobody of that name"):
        load("hopper-medium-v2")


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_tables_are_files_too(run_cli, tmp_path, ending):
    os.mkfifo(tmp_path / f"log{ending}")
    for name in (f"log{ending}", f"~no_such_user/log{ending}", "x" * 300 + ending):
        code, _, err = run_cli("data", "schema", name)
        assert (code, err.count("\n"), "Traceback" in err) == (2, 1, False)


def test_files_to_write_with_names_that_no_file_can_have(run_cli, tmp_path, log, save):
    save(tmp_path / "log.npz", log())
    code, _, err = run_cli("data", "convert", "log.npz", "x" * 300 + ".npz")
    assert (code, err.count("\n")) == (2, 1)
    assert "could not be written (File name too long)" in err
