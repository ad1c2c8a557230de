import json
from pathlib import Path

import pytest

from countmorl.cli import auto as module
from countmorl.cli import main
from countmorl.errors import Interrupted

RESULT = {
    "folder": "out",
    "judged": [
        {"name": "td3-bc epoch 2", "verdict": "better", "sure": 4.25, "unseen": 0.031},
        {"name": "clone epoch 3", "verdict": "cannot be judged", "sure": None, "unseen": 0.5},
    ],
    "choice": {
        "taken": "td3-bc epoch 2",
        "sentence": "take td3-bc epoch 2: better than the log by at least 4.25.",
        "reasons": ["td3-bc epoch 2 is better than the log."],
        "policy": "out/policy.safetensors",
        "handed_out": "td3-bc epoch 2",
        "warning": None,
    },
}


@pytest.fixture
def asked(monkeypatch):
    calls = []

    def find(data, **options):
        calls.append((data, options))
        return RESULT

    monkeypatch.setattr(module, "find", find)
    return calls


def test_what_is_asked_for(asked, capsys):
    words = ["auto", "log.npz", "--budget", "5m", "--out", "out", "--rows", "9", "--seed", "4"]
    assert main(words) == 0
    ((data, options),) = asked
    assert (data, options["budget"], options["out"]) == ("log.npz", "5m", Path("out"))
    assert (options["seed"], options["data_options"].rows) == (4, 9)
    said = capsys.readouterr().out
    assert "take td3-bc epoch 2: better than the log by at least 4.25." in said
    assert "4.25" in said
    assert "50.0%" in said
    assert "Policy: out/policy.safetensors (td3-bc epoch 2)" in said


def test_json_for_scripts(asked, capsys):
    assert main(["auto", "log.npz", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == RESULT


def test_stopped_it_says_how_to_go_on(monkeypatch, capsys):
    def find(data, **options):
        raise Interrupted(Path("out"), "runs", 1)

    monkeypatch.setattr(module, "find", find)
    assert main(["auto", "log.npz"]) == 130
    assert "nothing is lost in out. The same command goes on" in capsys.readouterr().err


def test_a_budget_that_is_none(capsys):
    assert main(["auto", "log.npz", "--budget", "soon"]) == 2
    assert "`budget` must be a time such as 90s, 30m, 2h or 1h30m, got 'soon'" in (
        capsys.readouterr().err
    )


def test_a_log_that_is_not_there(capsys):
    assert main(["auto", "nowhere.npz"]) == 2
    assert "nowhere.npz" in capsys.readouterr().err
