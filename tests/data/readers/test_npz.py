import io
import zipfile

import numpy as np
import pytest

from countmorl.data import foreign
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


def rewritten(path, changes):
    """The file with some of its members replaced."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()} | changes
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "log.npz"
    np.savez_compressed(path, observations=np.zeros((1 << 17, 1)))  # 8 bytes each, and a copy.
    monkeypatch.setattr(foreign, "available_memory", lambda: 12 * (1 << 17) - 1)
    with pytest.raises(DataError, match=r"GB of numbers, more than the .*free here"):
        read_npz(path)


@pytest.mark.parametrize(
    "header",
    [b"{'descr': '<f4', 'fortran_order': False, 'shape': (", b"(" * 90, b"\0" * 90, b"'" * 90],
)
def test_headers_that_are_none(log, save, tmp_path, header):
    head = b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header
    path = rewritten(save(tmp_path / "log.npz", log()), {"rewards.npy": head})
    with pytest.raises(DataError, match="not a readable NPZ file"):
        read_npz(path)


def test_more_promised_than_held_is_refused_before_memory_is_taken(log, save, tmp_path):
    header = io.BytesIO()
    shape = {"descr": "<f4", "fortran_order": False, "shape": (10**9, 5)}
    np.lib.format.write_array_header_1_0(header, shape)
    path = rewritten(save(tmp_path / "log.npz", log()), {"observations.npy": header.getvalue()})
    with pytest.raises(DataError, match=r"promises 20,000,000,000 bytes of numbers, but holds 0"):
        read_npz(path)


def test_members_that_are_no_arrays_are_passed_over_and_named(log, save, tmp_path):
    path = rewritten(save(tmp_path / "log.npz", log()), {"rewards": b"mine", "notes.txt": b""})
    fields = read_npz(path)
    assert fields.unused == ("rewards", "notes.txt")
    assert fields.reward.tolist() == log()["rewards"].tolist()


def test_a_member_that_only_calls_itself_an_array(log, save, tmp_path):
    path = rewritten(save(tmp_path / "log.npz", log()), {"rewards.npy": b"mine"})
    with pytest.raises(DataError, match="not a readable NPZ file"):
        read_npz(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_ways_to_pack_are_refused(log, tmp_path, method):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, log()["rewards"])
    with zipfile.ZipFile(tmp_path / "log.npz", "w", method) as archive:
        archive.writestr("rewards.npy", buffer.getvalue())
    with pytest.raises(DataError, match="packed in a way that numpy never does"):
        read_npz(tmp_path / "log.npz")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_array_that_is_there_twice(log, save, tmp_path):
    path = save(tmp_path / "log.npz", log())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("rewards.npy", archive.read("rewards.npy"))
    with pytest.raises(DataError, match="holds 'rewards' twice"):
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
