import gzip

import pytest

from countmorl.data.tables.text import (
    count_rows,
    find_bad_json,
    find_fault,
    find_separator,
    read_header,
)
from countmorl.errors import DataError


@pytest.fixture
def file(tmp_path):
    def write(content, name="log.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("line", "separator"), [("a,b,c", ","), ("a;b;c,d", ";"), ("a\tb", "\t"), ("a|b", "|")]
)
def test_the_separator_is_found(tmp_path, line, separator):
    assert find_separator(line, tmp_path / "x.csv") == separator
    assert find_separator("a,b,c", tmp_path / "x.tsv") == "\t"


def test_header(file):
    assert read_header(file('p;"a;b";c\n1;2;3\n'), None) == (("p", "a;b", "c"), ";")
    assert read_header(file(b"\xef\xbb\xbfp,q\n"), None)[0] == ("p", "q")
    packed = file(gzip.compress(b"p,q\n1,2\n"), "log.csv.gz")
    assert read_header(packed, None)[0] == ("p", "q")
    assert read_header(file(",a,b\n"), None)[0] == ("", "a", "b")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("a,b,a\n", "'a' more than once .places 1, 3."),
        ("1,2.5,3\n", "add a header"),
        ("a,b\n".encode("utf-16"), "UTF-16"),
        (b"a\0b", "not a text file"),
        (b"\xff\xe4,b\n1,2\n", "not UTF-8"),
    ],
)
def test_bad_headers(file, content, words):
    with pytest.raises(DataError, match=words):
        read_header(file(content), None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n3,4,5\n", r"line 3 \(row 2\) has 3 values"),
        ('a,b\n1,2\n"3,4\n5,6\n', "opened in row 2"),
        ('a,b\n1,2\n"3"x,4\n', "opened in row 2"),
        (b"a,b\n1,2\n\xff,4\n", r"line 3 \(row 2\) is not UTF-8"),
    ],
)
def test_faults_are_found(file, content, words):
    import re

    assert re.search(words, find_fault(file(content), ",", 2))


def test_a_sound_file_has_no_fault(file):
    assert find_fault(file('a,b\n1,"x\ny"\n'), ",", 2) is None


def test_damaged_and_absent_files(file, tmp_path):
    cut = file(gzip.compress(b"a,b\n" * 5000)[:40], "log.csv.gz")
    with pytest.raises(DataError, match=r"cannot be read.*cut off"):
        read_header(cut, None)
    with pytest.raises(DataError, match="There is no file"):
        read_header(tmp_path / "absent.csv", None)


def test_json_lines(file):
    assert find_bad_json(file('{"a": 1}\n\n{"a": 2}\n')) is None
    assert "line 2 is not JSON" in str(find_bad_json(file('{"a": 1}\n{"a":\n')))
    assert "line 1 is not an object" in str(find_bad_json(file("[1]\n")))
    assert find_bad_json(file('{"a": 1}\n{"a": null}\n{"a": 2.5}\n{"a": "w"}\n')) is None
    mixed = find_bad_json(file('{"a": 1}\n{"a": true}\n'))
    assert "column 'a' holds numbers and true or false, the latter first in line 2" in str(mixed)
    large = find_bad_json(file('{"a": 9223372036854775808}\n'))
    assert "'a' holds a number of 19 digits, more than 64 bits can hold, in line 1" in str(large)


def test_rows_are_guessed_by_size(file):
    path = file("1,2\n" * 1000)
    assert count_rows(path) == 1000
    assert count_rows(path, sample=400) == 1000
