import pytest

from countmorl.errors import RunError
from countmorl.json_files import parse_json, parse_lines, parse_text


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
            (b'{"a": ' * 41 + b"1" + b"}" * 41, "nested too deeply"),
            (b'{"a": 1' + b"0" * 400 + b"}", "has 401 digits"),
            (b'{"a": ' + b"9" * 5000 + b"}", "has 5000 digits"),
            (b'{"a": "\\ud800"}', "not readable JSON"),
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


class TestParseLines:
    def test_an_unfinished_last_line_is_passed_over(self, tmp_path):
        (tmp_path / "x").write_text('{"a": 1}\n[2]\n{"a"')
        assert parse_lines(tmp_path / "x") == [{"a": 1}, [2]]

    @pytest.mark.parametrize("line", [b"", b"{oops}", b"\xff", b"[" * 100_000, b"1" * 400])
    def test_a_damaged_line_is_said(self, tmp_path, line):
        (tmp_path / "x").write_bytes(b"{}\n" + line + b"\n{}\n")
        with pytest.raises(RunError, match="x is damaged"):
            parse_lines(tmp_path / "x")


def test_numbers_of_every_sane_size_are_read():
    assert parse_text("[0, -9223372036854775808, 1.5, 1e300]") == [0, -(2**63), 1.5, 1e300]
