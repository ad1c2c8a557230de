import os

import pytest

from countmorl.errors import ConfigError
from countmorl.toml_files import parse_toml


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.toml"


def test_a_table(path):
    path.write_text("a = 1\n[b]\nc = 'é'\n", encoding="utf-8")
    assert parse_toml(path, "plan") == {"a": 1, "b": {"c": "é"}}


@pytest.mark.parametrize(
    "content",
    [
        b"a = [",
        b"\xff\xfe",
        b"a = " + b"9" * 5000,
        b"[b]\na = [1, " + b"9" * 400 + b"]",
        b"a = " + b"[" * 100_000,
        b"#" * (2 << 20),
    ],
    ids=["torn", "no text", "a number of 5000 digits", "one of 400", "too deep", "too large"],
)
def test_what_is_none_is_said(path, content):
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"some.toml is not a readable plan: "):
        parse_toml(path, "plan")


def test_a_missing_file_and_a_folder(path):
    with pytest.raises(ConfigError, match=r"There is no plan .*some.toml"):
        parse_toml(path, "plan")
    with pytest.raises(ConfigError, match="is not an ordinary file"):
        parse_toml(path.parent, "plan")


def test_a_pipe_is_not_waited_for(path):
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="is not an ordinary file"):
        parse_toml(path, "plan")
