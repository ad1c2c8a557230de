import io
import zipfile

import numpy as np
import pytest

from countmorl.data.dataset import Dataset
from countmorl.data.readers.npz import read_npz, write_npz
from countmorl.data.sources import load
from countmorl.envs.tasks import TASKS
from countmorl.errors import DataError


def test_npz_gives_the_same_dataset_back(log, tmp_path):
    dataset = load(log())
    write_npz(dataset, tmp_path / "log.npz")
    assert Dataset.of(read_npz(tmp_path / "log.npz")).hash == dataset.hash
    assert list(tmp_path.iterdir()) == [tmp_path / "log.npz"]


def test_npz_keeps_what_is_unknown_unknown(log, tmp_path):
    v0 = log()
    del v0["next_observations"]
    dataset = load(v0)
    write_npz(dataset, tmp_path / "log.npz")
    again = Dataset.of(read_npz(tmp_path / "log.npz"))
    assert again.next_known.sum() == 60 - 3
    assert again.hash == dataset.hash


def test_other_arrays_of_an_npz_file_are_passed_over_and_named(log, save, tmp_path, capsys):
    path = save(tmp_path / "log.npz", log() | {"camera": np.zeros((60, 2))})
    assert read_npz(path).unused == ("camera",)
    assert load(path).hash == load(log()).hash
    assert capsys.readouterr().err.startswith("'log': not used: camera.")


def test_the_task_is_kept(log, tmp_path):
    dataset = load(log(action=1), task="Pendulum-v1")
    write_npz(dataset, tmp_path / "log.npz")
    again = Dataset.of(read_npz(tmp_path / "log.npz"))
    assert (again.task, again.hash, again.unused) == (dataset.task, dataset.hash, ())


def test_the_task_is_known_by_the_name_of_the_file(log, save, tmp_path):
    path = save(tmp_path / "walker2d_mine.npz", log(obs=17, action=6))
    assert read_npz(path).task is TASKS["walker2d"]


def test_the_task_is_known_by_the_name_of_a_file_that_we_wrote(log, tmp_path):
    write_npz(load(log(obs=17, action=6)), tmp_path / "walker2d_mine.npz")
    assert read_npz(tmp_path / "walker2d_mine.npz").task is TASKS["walker2d"]


def test_objects_are_never_unpickled(log, save, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "exploded"), "w"))

    path = save(tmp_path / "log.npz", log() | {"rewards": np.array([Bomb()] * 60)})
    with pytest.raises(DataError, match=r"plain arrays.*no objects"):
        read_npz(path)
    assert not (tmp_path / "exploded").exists()


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "log.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("observations.npy", bytes(1 << 20))
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 10}
    monkeypatch.setattr("os.sysconf", pages.__getitem__)
    with pytest.raises(DataError, match="more than the memory"):
        read_npz(path)


def test_a_file_cut_short(log, save, tmp_path):
    path = save(tmp_path / "log.npz", log())
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match="not a readable NPZ file"):
        read_npz(path)


def damaged(arrays, position):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    raw = bytearray(buffer.getvalue())
    raw[position] ^= 0xFF
    return bytes(raw)


@pytest.mark.parametrize("position", [45, 200, 600])
def test_a_flipped_byte(log, tmp_path, position):
    path = tmp_path / "log.npz"
    path.write_bytes(damaged(log(), position))
    with pytest.raises(DataError, match="not a readable NPZ file"):
        read_npz(path)


def test_a_stream_that_cannot_be_unpacked(log, tmp_path):
    path = tmp_path / "log.npz"
    path.write_bytes(damaged(log(), 120))
    with pytest.raises(DataError, match="not a readable NPZ file"):
        read_npz(path)
