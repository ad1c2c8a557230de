import json

from countmorl.configs import to_json
from made_runs import CALIBRATION, make_run


def test_bins_verdict_and_figure(run_cli, tmp_path):
    make_run(tmp_path / "run")
    code, out, err = run_cli("calibration", "run")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["count", "error", "rows"]
    assert lines[1].split() == ["2.0", "0.5000", "4"]
    assert CALIBRATION.verdict in lines
    assert "it is 1.0, and the logged one of two such pairs counts more in 75 % of cases" in out
    assert lines[-7].split("  ")[0] == "noise on"
    assert lines[-6].split() == ["actions", "0.3", "88", "%", "25", "%", "2.0"]
    assert lines[-5].split("  ")[0] == "tenth held out"
    assert lines[-3].split("  ")[0] == "verified up to"
    assert lines[-2].split() == ["99.9", "%", "1", "6", "%", "3", "%"]
    assert " ".join(lines[-4].split()) == "highest returns 8 75 % 50 % 1.5 12 % unseen, count 6.0"
    assert lines[-1] == "Figure: run/calibration.png"
    assert (tmp_path / "run" / "calibration.png").exists()


def test_json(run_cli, tmp_path):
    make_run(tmp_path / "run")
    _, out, _ = run_cli("calibration", "run", "--json")
    assert json.loads(out) == json.loads(json.dumps(to_json(CALIBRATION)))
    assert not (tmp_path / "run" / "calibration.png").exists()


def test_a_run_that_counts_nothing(run_cli, trained, tabular):
    for run in (trained / "run", tabular / "run"):
        code, _, err = run_cli("calibration", run)
        assert (code, err.count("\n")) == (2, 1)
        assert "has no calibration: it comes with the algorithms that count" in err
