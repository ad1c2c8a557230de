import json

import numpy as np

from monitored import walks


def test_a_table_and_json(run_cli, tmp_path):
    np.savez(tmp_path / "log.npz", **walks(episodes=30, length=5))
    words = ("study", "alarms", tmp_path / "log.npz", "--sizes", 2, "--splits", 1, "--logs", 3)
    code, out, _ = run_cli(*words)
    assert code == 0
    assert out.splitlines()[0].split("  ")[0] == "drift"
    assert "one column x 1000" in out
    found = json.loads(run_cli(*words, "--json")[1])
    assert {each["episodes"] for each in found} == {2}
    assert all(0 <= each["alarms"] <= 1 for each in found)


def test_false_alarms_alone(run_cli, tmp_path):
    np.savez(tmp_path / "log.npz", **walks(episodes=30, length=5))
    words = ("study", "alarms", tmp_path / "log.npz", "--sizes", 2, "--splits", 2, "--logs", 2)
    code, out, _ = run_cli(*words, "--drifts", "none", "--json")
    assert code == 0
    assert {(each["drift"], each["logs"]) for each in json.loads(out)} == {("none", 4)}
    code, _, err = run_cli(*words, "--drifts", "rain")
    assert (code, "There is no drift 'rain'. Known: none, " in err) == (2, True)


def test_too_short(run_cli, tmp_path):
    np.savez(tmp_path / "log.npz", **walks(episodes=5))
    code, _, err = run_cli("study", "alarms", tmp_path / "log.npz")
    assert code == 2
    assert "5 episodes; logs of 20 want 80" in err
