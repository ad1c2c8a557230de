import json

import pytest

from countmorl.cli import demo


@pytest.fixture
def result(monkeypatch):
    """What the demo gives, without its training; it holds where that was asked to be."""
    found = {
        "behaviour": -900.0,
        "bc": -700.0,
        "count_morl": -300.0,
        "run": "somewhere/count-morl",
        "figures": ["somewhere/curve.png"],
    }
    asked = []
    monkeypatch.setattr(demo, "run_demo", lambda out: asked.append(out) or found)
    return found, asked


def test_prints_what_came_out(run_cli, result, tmp_path):
    code, out, _ = run_cli("demo", "--out", tmp_path / "demo")
    assert code == 0
    for words in ("-900", "-700", "-300", "somewhere/count-morl", "somewhere/curve.png"):
        assert words in out
    assert result[1] == [tmp_path / "demo"]


def test_json(run_cli, result):
    code, out, _ = run_cli("demo", "--json")
    assert (code, json.loads(out)) == (0, result[0])
    assert [str(path) for path in result[1]] == ["runs/demo"]
