from typing import ClassVar

import pytest

from countmorl.cli import serve as command
from countmorl.serving.listening import TOKEN


class Server:
    """Stands for uvicorn's: it ends at once."""

    started = True

    def run(self):
        pass


class Answers:
    """Stands for a bundle's."""

    contract: ClassVar = {}

    def numbers(self, obs):
        return []

    def rows(self, rows):
        return []


@pytest.fixture
def made(monkeypatch):
    """What was asked of the server that was made."""
    asked = []
    monkeypatch.setattr(command.BundleAnswers, "load", lambda folder: Answers())

    def make(app, **about):
        asked.append(about)
        return Server()

    monkeypatch.setattr(command, "make_server", make)
    return asked


def test_loopback_by_default(run_cli, trained, made, monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)
    code, out, err = run_cli("serve", trained / "run")
    assert (code, err, made) == (0, "", [{"host": "127.0.0.1", "port": 8400}])
    assert "at http://127.0.0.1:8400, without a token." in out


def test_others_are_warned_of(run_cli, trained, made, monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)
    _, _, err = run_cli("serve", trained / "run", "--host", "0.0.0.0", "--port", 0)
    assert err.startswith("warning: Whoever reaches 0.0.0.0 can ask this policy for actions")
    monkeypatch.setenv(TOKEN, "0123456789abcdef")
    _, out, err = run_cli("serve", trained / "run", "--host", "0.0.0.0")
    assert "no token" not in err
    assert "with a token" in out
    assert "0123456789abcdef" not in out + err


def test_a_port_that_is_taken(run_cli, trained, made, monkeypatch):
    monkeypatch.setattr(Server, "started", False)
    assert run_cli("serve", trained / "run")[0] == 2


def test_bad_input(run_cli, trained, monkeypatch):
    for words, said in (
        (("nowhere",), "is not a bundle"),
        ((trained / "run",), "is not a bundle: it holds no contract.json. `countmorl export RUN"),
    ):
        code, out, err = run_cli("serve", *words)
        assert (code, out) == (2, "")
        assert said in err
    monkeypatch.setenv(TOKEN, "short")
    assert "at least 16 plain characters" in run_cli("serve", trained / "run")[2]


def test_a_port_that_is_none(run_cli, trained, monkeypatch):
    monkeypatch.setattr(command.BundleAnswers, "load", lambda folder: Answers())
    code, _, err = run_cli("serve", trained / "run", "--port", 99999)
    assert code == 2
    assert "`port` must be from 0 to 65535" in err
