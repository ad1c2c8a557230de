import errno
import hashlib
import json
import os

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from countmorl.errors import ConfigError, RunError
from countmorl.files import (
    TYPES,
    atomic,
    check_ending,
    digest,
    read_arrays,
    write_arrays,
    write_text,
)

ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "flag": np.array([True, False])}


def test_only_known_endings_may_be_written(tmp_path):
    check_ending(tmp_path / "a.svg", (".png", ".svg"))
    with pytest.raises(ConfigError, match=r"'\.jpeg'; wanted \.png, \.svg"):
        check_ending(tmp_path / "a.jpeg", (".png", ".svg"))


class TestAtomic:
    def test_the_file_appears_when_it_is_whole(self, tmp_path):
        path = tmp_path / "deep" / "er" / "file.txt"
        with atomic(path) as temporary:
            temporary.write_text("new")
            assert not path.exists()
        assert path.read_text() == "new"
        assert list(path.parent.iterdir()) == [path]

    def test_a_failure_leaves_the_old_file_and_nothing_else(self, tmp_path):
        path = tmp_path / "file.txt"
        path.write_text("old")

        def fail():
            with atomic(path) as temporary:
                temporary.write_text("half")
                raise RuntimeError("stop")

        with pytest.raises(RuntimeError, match="stop"):
            fail()
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0, 0o666)])
    def test_the_umask_says_who_may_read_the_file(self, tmp_path, umask, mode):
        before = os.umask(umask)
        try:
            write_arrays(tmp_path / "a.safetensors", ARRAYS, {})
            write_text(tmp_path / "b.json", "{}")
        finally:
            os.umask(before)
        for path in tmp_path.iterdir():
            assert path.stat().st_mode & 0o777 == mode

    def test_nobody_can_foresee_the_temporary_name(self, tmp_path):
        names = set()
        for _ in range(2):
            with atomic(tmp_path / "x") as temporary:
                names.add(temporary.name)
        assert len(names) == 2

    def test_a_link_in_its_place_is_replaced_and_not_followed(self, tmp_path):
        (tmp_path / "victim").write_text("precious")
        (tmp_path / "x").symlink_to(tmp_path / "victim")
        write_text(tmp_path / "x", "new")
        assert (tmp_path / "victim").read_text() == "precious"
        assert (tmp_path / "x").read_text() == "new"

    def test_the_longest_names(self, tmp_path):
        write_text(tmp_path / ("x" * 255), "whole")
        with pytest.raises(RunError, match="could not be written"):
            write_text(tmp_path / ("x" * 256), "whole")

    def test_the_folder_is_synced_after_the_file_has_its_name(self, tmp_path, monkeypatch):
        seen, replace = [], os.replace
        monkeypatch.setattr(os, "fsync", lambda file: seen.append(os.fstat(file).st_ino))
        monkeypatch.setattr(os, "replace", lambda a, b: (seen.append("named"), replace(a, b)))
        write_text(tmp_path / "x", "whole")
        assert seen == [(tmp_path / "x").stat().st_ino, "named", tmp_path.stat().st_ino]

    def test_a_full_disk(self, tmp_path, monkeypatch):
        path = tmp_path / "file.txt"
        write_text(path, "old")

        def full(descriptor):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(RunError, match=r"disk is full: .*file.txt.*before is unchanged"):
            write_text(path, "new")
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]


class TestDigest:
    def test_by_hand(self):
        """SHA-256 of the note, then of name, type, shape and bytes, array by array."""
        wanted = hashlib.sha256(b"note")
        wanted.update(b"a<f4(2, 3)" + ARRAYS["a"].tobytes())
        wanted.update(b"flag|b1(2,)" + bytes([1, 0]))
        assert digest(ARRAYS, "note") == wanted.hexdigest()

    def test_does_not_depend_on_order_or_memory_layout(self):
        turned = {"flag": ARRAYS["flag"], "a": np.asfortranarray(ARRAYS["a"])}
        assert digest(turned) == digest(ARRAYS)

    @pytest.mark.parametrize(
        "other",
        [
            {"b": ARRAYS["a"], "flag": ARRAYS["flag"]},
            {"a": ARRAYS["a"].reshape(3, 2), "flag": ARRAYS["flag"]},
            {"a": ARRAYS["a"].view(np.int32), "flag": ARRAYS["flag"]},
            {"a": ARRAYS["a"] + 1, "flag": ARRAYS["flag"]},
            {"a": ARRAYS["a"]},
        ],
        ids=["name", "shape", "type", "values", "missing"],
    )
    def test_depends_on_everything_else(self, other):
        assert digest(other) != digest(ARRAYS)


class TestArrays:
    def test_what_is_written_is_read(self, tmp_path):
        meta = {"kind": "test", "numbers": [1, 2.5, None], "name": "Zürich"}
        write_arrays(tmp_path / "x", ARRAYS, meta)
        arrays, read = read_arrays(tmp_path / "x")
        assert read == meta
        assert set(arrays) == {"a", "flag"}
        for name, values in ARRAYS.items():
            np.testing.assert_array_equal(arrays[name], values)
            assert arrays[name].dtype == values.dtype

    def test_the_same_arrays_give_the_same_bytes(self, tmp_path):
        contents = set()
        for _ in range(10):
            write_arrays(tmp_path / "x", ARRAYS, {"b": 1, "a": 2})
            contents.add((tmp_path / "x").read_bytes())
            write_arrays(tmp_path / "x", dict(reversed(ARRAYS.items())), {"a": 2, "b": 1})
            contents.add((tmp_path / "x").read_bytes())
        assert len(contents) == 1

    def test_the_format_is_the_one_of_safetensors(self, tmp_path):
        write_arrays(tmp_path / "x", ARRAYS, {"a": 1})
        with safe_open(tmp_path / "x", framework="np") as file:
            save_file(
                {name: file.get_tensor(name) for name in ARRAYS}, tmp_path / "y", file.metadata()
            )
        assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()

    @pytest.mark.parametrize("kind", TYPES)
    def test_every_type_comes_back(self, tmp_path, kind):
        values = {"a": np.array([[0, 1], [1, 1]], kind), "none": np.zeros((0, 3), kind)}
        write_arrays(tmp_path / "x", values, {})
        read, _ = read_arrays(tmp_path / "x")
        for name, array in values.items():
            np.testing.assert_array_equal(read[name], array, strict=True)

    def test_a_pipe_is_refused_and_not_waited_for(self, tmp_path):
        os.mkfifo(tmp_path / "x")
        with pytest.raises(RunError, match="no ordinary file"):
            read_arrays(tmp_path / "x")

    def test_an_array_without_dimensions_stays_one(self, tmp_path):
        write_arrays(tmp_path / "x", {"count": np.array(3, np.int32)}, {})
        count = read_arrays(tmp_path / "x")[0]["count"]
        assert (count.shape, count.dtype, int(count)) == ((), np.int32, 3)

    def test_a_flipped_bit_is_found_wherever_it_is(self, tmp_path):
        write_arrays(tmp_path / "x", ARRAYS, {"kind": "test"})
        raw = (tmp_path / "x").read_bytes()
        for position in range(len(raw)):
            damaged = bytearray(raw)
            damaged[position] ^= 1
            (tmp_path / "y").write_bytes(damaged)
            with pytest.raises(RunError):
                read_arrays(tmp_path / "y")

    @pytest.mark.parametrize("length", [0, 4, 8, 50, -1])
    def test_a_file_cut_short(self, tmp_path, length):
        write_arrays(tmp_path / "x", ARRAYS, {})
        (tmp_path / "x").write_bytes((tmp_path / "x").read_bytes()[:length])
        with pytest.raises(RunError, match="not a readable safetensors file"):
            read_arrays(tmp_path / "x")

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(RunError, match=r"There is no file .*nowhere"):
            read_arrays(tmp_path / "nowhere")

    def test_a_folder(self, tmp_path):
        with pytest.raises(RunError):
            read_arrays(tmp_path)

    @pytest.mark.parametrize("header", [None, {"format": "pt"}])
    def test_a_foreign_file(self, tmp_path, header):
        save_file(ARRAYS, tmp_path / "x", header)
        with pytest.raises(RunError, match="not written by countmorl"):
            read_arrays(tmp_path / "x")

    def test_a_description_that_is_no_json(self, tmp_path):
        text = "not json"
        save_file(ARRAYS, tmp_path / "x", {"countmorl": text, "digest": digest(ARRAYS, text)})
        with pytest.raises(RunError):
            read_arrays(tmp_path / "x")

    @pytest.mark.parametrize("meta", [[1, 2], "text", None], ids=repr)
    @pytest.mark.usefixtures("unchecked")
    def test_a_description_that_is_no_table(self, tmp_path, meta):
        write_arrays(tmp_path / "x", ARRAYS, meta)
        with pytest.raises(RunError):
            read_arrays(tmp_path / "x")


def test_text_is_utf_8(tmp_path):
    write_text(tmp_path / "x", json.dumps("β", ensure_ascii=False))
    assert (tmp_path / "x").read_bytes() == '"β"'.encode()
