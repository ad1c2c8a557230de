import pytest

from countmorl.errors import ConfigError
from countmorl.serving.listening import (
    allow_files,
    checked_token,
    is_loopback,
    make_server,
    warning,
)


@pytest.mark.parametrize(
    ("host", "alone"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("box", False)],
)
def test_who_reaches_an_address(host, alone):
    assert is_loopback(host) == alone
    assert (warning(host, None) is None) == alone


def test_warnings():
    assert "no token is set (COUNTMORL_TOKEN)" in (warning("0.0.0.0", None) or "")
    said = warning("0.0.0.0", "0123456789abcdef")
    assert said == "The service speaks plain HTTP: put a proxy with TLS before it."


@pytest.mark.parametrize("token", ["", "short", "0123456789abcdé", "0123456789 abcdef", "\n" * 20])
def test_tokens_that_are_none(token):
    with pytest.raises(ConfigError, match="at least 16 plain characters"):
        checked_token(token)


def test_a_token_and_none():
    assert checked_token("0123456789abcdef") == "0123456789abcdef"
    assert checked_token(None) is None


@pytest.mark.parametrize("port", [-1, 65_536])
def test_ports_that_are_none(port):
    with pytest.raises(ConfigError, match="`port` must be from 0 to 65535"):
        make_server(None, host="127.0.0.1", port=port)


def test_files_for_every_connection():
    allow_files(64)
    allow_files(10**9)  # As far as the system permits.
