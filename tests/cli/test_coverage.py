import json
import shutil

import pytest

from countmorl.coverage import report
from countmorl.runtime.guard import policy_digest


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(report, "CLONE_UPDATES", 20)


@pytest.mark.slow
def test_of_a_run(run_cli, pendulum, tmp_path):
    pytest.importorskip("matplotlib")
    run = shutil.copytree(pendulum / "run", tmp_path / "run")  # It keeps what it was asked.
    code, out, err = run_cli("coverage", run, "--steps", 5, "--out", "a.png")
    assert code == 0, err
    kept = json.loads((run / "coverage.json").read_text())
    assert (kept["policy"], kept["ways_by"]) == (policy_digest(run), "neighbours")
    assert "Where policies go in the model: unseen / thin / covered" in out
    assert "What to log next" in out
    assert "imagining where the policy goes ..." in err
    assert (tmp_path / "a.png").exists()


def test_of_data_as_json(run_cli, pendulum):
    code, out, _ = run_cli("coverage", pendulum / "log.npz", "--json")
    found = json.loads(out)
    assert (code, found["density"]["rows"], found["ways"]) == (0, 400, [])
    assert found["density"]["counted_by"] == "neighbours"


def test_of_data_as_tables(run_cli, pendulum):
    code, out, _ = run_cli("coverage", pendulum / "log.npz")
    assert code == 0
    assert "by neighbours)" in out
    assert "% covered" in out


def test_bad_input_is_a_sentence(run_cli, pendulum):
    for words, sentence in (
        ((pendulum / "run", "--steps", 0), "--steps must be at least 1"),
        ((pendulum / "log.npz", "--data", "other.npz"), "is no run"),
        ((pendulum / "run", "--out", "a.gif"), "wanted .png"),
        (("nothing.npz",), "nothing.npz"),
    ):
        code, _, err = run_cli("coverage", *words)
        assert (code, sentence in err) == (2, True), err
