import json

import pytest

from countmorl import Policy, evaluate
from countmorl.cli import runs


class TestResume:
    def test_goes_on(self, run_cli, halted, trained):
        code, out, err = run_cli("resume", halted)
        assert code == 0
        assert f"Run: {halted}" in out
        assert [line.split()[1] for line in err.splitlines()] == ["3/4", "4/4"]
        unbroken = (trained / "run" / "metrics.jsonl").read_bytes()
        assert (halted / "metrics.jsonl").read_bytes() == unbroken

    def test_json(self, run_cli, finished):
        code, out, err = run_cli("resume", finished, "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["epoch"] == 4

    def test_data_that_has_moved(self, run_cli, halted, trained):
        (trained / "log.hdf5").rename(trained / "moved.hdf5")
        try:
            assert run_cli("resume", halted)[0] == 2
            assert run_cli("resume", halted, "--data", trained / "moved.hdf5")[0] == 0
        finally:
            (trained / "moved.hdf5").rename(trained / "log.hdf5")


@pytest.fixture
def pendulum(run_cli, log, save, tiny, tmp_path):
    data = save(tmp_path / "log.hdf5", log(action=1), env_id="Pendulum-v1")
    assert run_cli("train", "bc", data, "--out", "run", *tiny, "--eval-every", 0)[0] == 0
    return tmp_path / "run"


class TestEvaluate:
    def test_json(self, run_cli, pendulum):
        arguments = ("evaluate", pendulum, "--episodes", 2, "--seed", 5, "--json")
        code, out, err = run_cli(*arguments)
        assert (code, err) == (0, "")
        wanted = evaluate(Policy.load(pendulum), "Pendulum-v1", episodes=2, seed=5).as_dict()
        assert json.loads(out) == {
            "run": str(pendulum),
            "task": "Pendulum-v1",
            "seed": 5,
            **wanted,
        }
        assert run_cli(*arguments)[1] == out

    def test_text(self, run_cli, pendulum):
        code, out, _ = run_cli("evaluate", pendulum / "policy.safetensors", "--episodes", 1)
        assert code == 0
        assert "task      Pendulum-v1 (Pendulum-v1)" in out
        assert "score     no reference known" in out
        assert "length    200.0" in out
        assert "episodes  1" in out

    def test_a_policy_without_a_task_needs_one(self, run_cli, finished):
        code, _, err = run_cli("evaluate", finished)
        assert code == 2
        assert "without a known environment. Name one with --task." in err


class TestDoctor:
    def test_prints_what_the_examination_found(self, run_cli, monkeypatch):
        report = {"versions": {"python": "3.11"}, "self-test": {"training": "works"}, "ok": True}
        monkeypatch.setattr(runs, "examine", lambda: report)
        code, out, _ = run_cli("doctor")
        assert code == 0
        assert out.splitlines() == [
            "versions:",
            "  python  3.11",
            "self-test:",
            "  training  works",
            "Everything works.",
        ]
        code, out, _ = run_cli("doctor", "--json")
        assert (code, json.loads(out)) == (0, report)

    def test_exits_1_where_something_is_broken(self, run_cli, monkeypatch):
        report = {"self-test": {"training": "failed: OSError: no"}, "ok": False}
        monkeypatch.setattr(runs, "examine", lambda: report)
        code, out, _ = run_cli("doctor")
        assert code == 1
        assert "Something is broken" in out
        assert run_cli("doctor", "--json")[0] == 1


class TestDemo:
    def test_prints_what_came_out(self, run_cli, monkeypatch, tmp_path):
        seen = []
        result = {
            "behaviour": -900.0,
            "bc": -700.0,
            "count_morl": -300.0,
            "run": "somewhere/count-morl",
            "figures": ["somewhere/curve.png"],
        }

        def fake(out):
            seen.append(out)
            return result

        monkeypatch.setattr(runs, "run_demo", fake)
        code, out, _ = run_cli("demo", "--out", tmp_path / "demo", "--json")
        assert (code, json.loads(out)) == (0, result)
        assert seen == [tmp_path / "demo"]
        code, out, _ = run_cli("demo", "--out", tmp_path / "demo")
        assert code == 0
        for words in ("-900", "-700", "-300", "somewhere/count-morl", "somewhere/curve.png"):
            assert words in out
