import pytest

from countmorl.errors import (
    ConfigError,
    CountMorlError,
    DataError,
    MissingExtraError,
    RunError,
    did_you_mean,
    printable,
)


@pytest.mark.parametrize("error", [DataError, ConfigError, RunError, MissingExtraError])
def test_every_error_is_ours(error):
    assert issubclass(error, CountMorlError)


def test_a_missing_extra_is_an_import_error_too():
    assert issubclass(MissingExtraError, ImportError)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("hoper", " Did you mean 'hopper'?"),
        ("HOPER", " Did you mean 'hopper'?"),
        ("hopper", " Did you mean 'hopper'?"),
        ("ant", ""),
        ("", ""),
    ],
)
def test_did_you_mean(word, hint):
    assert did_you_mean(word, ["hopper", "walker2d"]) == hint


def test_what_would_move_a_terminals_cursor_is_shown_as_it_is():
    assert printable("a\x1b[2Jb\x9b\r\x00") == "a\\x1b[2Jb\\x9b\\r\\x00"
    assert printable("\u202e\ud800") == "\\u202e\\ud800"
    assert printable("Zürich\tβ 数\n") == "Zürich\tβ 数\n"
