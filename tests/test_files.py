import errno
import hashlib
import json
import os

import numpy as np
import pytest
from safetensors.numpy import save_file

from countmorl.errors import ConfigError, DataError, RunError
from countmorl.files import (
    atomic,
    check_ending,
    digest,
    explained_write,
    parse_json,
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

    def test_others_may_read_the_file(self, tmp_path):
        write_arrays(tmp_path / "a.safetensors", ARRAYS, {})
        assert (tmp_path / "a.safetensors").stat().st_mode & 0o777 == 0o644

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


class TestExplainedWrite:
    def test_permission(self, tmp_path):
        with (
            pytest.raises(DataError, match="No permission to write"),
            explained_write(tmp_path / "x", DataError),
        ):
            raise PermissionError(errno.EACCES, "denied")

    def test_other_errors_pass(self, tmp_path):
        with pytest.raises(TypeError, match="mine"), explained_write(tmp_path / "x"):
            raise TypeError("mine")


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


class TestParseJson:
    def test_reads(self, tmp_path):
        (tmp_path / "x").write_text('{"a": [1]}')
        assert parse_json(tmp_path / "x", lambda value: "a" in value, "an a") == {"a": [1]}

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (b"{", "not readable JSON .*wanted an a"),
            (b"\xff\xfe", "not readable JSON"),
            (b"[" * 100_000, "not readable JSON"),
            (b'{"b": 1}', "does not hold an a"),
        ],
    )
    def test_refuses(self, tmp_path, text, words):
        (tmp_path / "x").write_bytes(text)
        with pytest.raises(RunError, match=words):
            parse_json(tmp_path / "x", lambda value: "a" in value, "an a")

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(RunError, match=r"There is no file .*; wanted an a"):
            parse_json(tmp_path / "x", bool, "an a")


def test_text_is_utf_8(tmp_path):
    write_text(tmp_path / "x", json.dumps("β", ensure_ascii=False))
    assert (tmp_path / "x").read_bytes() == '"β"'.encode()
