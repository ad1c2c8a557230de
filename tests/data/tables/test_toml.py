import pytest

from countmorl.data.tables.request import Request, Setting
from countmorl.data.tables.toml import read_request, write_request
from countmorl.errors import ConfigError

FILE = """
obs = ["lab_*", "rise = temp - lag(temp)"]
action = "dose"
reward = "r - 0.5 * cost"
gap = 2.5
history = 3

[columns.ward]
kind = "scale"
values = ["low", 2, true]
missing = false

[columns."lab_*"]
missing = "carry"
"""


def test_a_file_by_hand(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(FILE)
    request = read_request(path)
    assert request.obs == ("lab_*", "rise = temp - lag(temp)")
    assert (request.action, request.gap, request.history) == (("dose",), 2.5, 3)
    assert request.columns["ward"].values == ("low", "2", "true")
    assert request.columns["ward"].missing is False
    assert request.setting("lab_7").missing == "carry"


def test_what_is_written_is_read_again(tmp_path):
    request = Request(
        obs=('a "quoted" name', "ümlaut", *(f"long_name_{i}" for i in range(20))),
        action=("a",),
        reward="r\\s",
        columns={"odd name": Setting(unit="mg/dl", missing=1.5, values=("x", "y")), "b": Setting()},
        action_low=(-1.0,),
        decimal_comma=True,
    )
    path = tmp_path / "schema.toml"
    path.write_text(write_request(request, facts={"a": "two\nlines", "ümlaut": "numbers"}))
    assert read_request(path) == request


def test_what_is_not_known_stands_as_a_comment():
    text = write_request(Request(obs=("x",)), facts={"x": "numbers"}, notes={"reward": "a column"})
    assert '    "x",  # numbers\n' in text
    assert "# reward = ...  a column\n" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("obs = [", "not a readable schema file"),
        ('rewrad = "r"', "Did you mean 'reward'"),
        ('[columns.x]\nkidn = "number"', "Column 'x'.*Did you mean 'kind'"),
        ("columns = 3", "must be a table"),
        ("history = 'two'", "history"),
    ],
)
def test_bad_files(tmp_path, text, words):
    path = tmp_path / "schema.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        read_request(path)


def test_an_absent_file(tmp_path):
    with pytest.raises(ConfigError, match="There is no schema file"):
        read_request(tmp_path / "absent.toml")
