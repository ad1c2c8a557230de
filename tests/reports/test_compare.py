import json

import numpy as np
import pytest

from countmorl import Run
from countmorl.errors import RunError
from countmorl.reports.compare import differing, draw_curves, labels, measure_of, summarize


def make(folder, *, beta=1.0, seed=0, scores=(1.0, 2.0, 6.0), counted=True):
    config = {"beta": beta, "sac": {"discount": 0.99, "actor_rate": beta / 10}}
    data = {"name": "toy", "hash": "abc"}
    about = {"algorithm": "count-morl", "data": data, "options": {"seed": seed}}
    run = Run.create(folder, {**about, "config": config})
    for epoch, score in enumerate(scores, 1):
        facts = {"q": 10.0 * epoch, "rollout_penalty": [0.1, 0.3], "return": 5.0, "score": score}
        run.append("metrics.jsonl", {"stage": "policy", "epoch": epoch, **facts})
        speed = {"stage": "policy", "updates_per_second": 100.0 * epoch}
        run.append("timing.jsonl", speed)
    run.append("timing.jsonl", {"stage": "model", "updates_per_second": 1.0})
    if counted:
        tables = {f"counter.tables[{i}].counts": np.array(c) for i, c in enumerate([[2, 4], [6]])}
        run.save_result("counter", tables)
        (run.path / "calibration.json").write_text('{"median_count": 7.5}')
    return run


def test_a_run_in_numbers(tmp_path):
    facts = summarize(make(tmp_path / "run"), last=2)
    assert (facts["score"], facts["score_spread"]) == (4.0, 2.0)
    assert facts["q"] == 30.0
    assert facts["penalty"] == pytest.approx(0.2)
    assert facts["rows_per_code"] == 4.5  # (2 + 4) / 2 and 6 / 1
    assert facts["typical_count"] == 7.5
    assert facts["updates_per_second"] == 200.0
    assert facts["judged_at"] == [1, 2, 3]


def test_a_run_that_counts_nothing(tmp_path):
    assert summarize(make(tmp_path / "run", counted=False))["rows_per_code"] is None


def test_only_settings_that_differ_are_told(tmp_path):
    runs = [make(tmp_path / name, beta=b) for name, b in (("a", 1.0), ("b", 3.0))]
    assert differing(runs) == [
        {"beta": 1.0, "sac.actor_rate": 0.1},
        {"beta": 3.0, "sac.actor_rate": 0.3},
    ]
    assert differing([runs[0], make(tmp_path / "c", seed=4)]) == [{"seed": 0}, {"seed": 4}]


def test_a_setting_that_an_older_run_did_not_write_differs(tmp_path):
    new = make(tmp_path / "new")
    about = json.loads((make(tmp_path / "old").path / "config.json").read_text())
    del about["config"]["beta"]
    old = Run.create(tmp_path / "older", about)
    assert differing([old, new]) == [{"beta": None}, {"beta": 1.0}]
    assert differing([new, old]) == [{"beta": 1.0}, {"beta": None}]
    other = Run.create(tmp_path / "other", about | {"algorithm": "other"})
    assert differing([other, new]) == [{}, {"beta": 1.0}]  # It may well have no such setting.
    stronger = make(tmp_path / "stronger", beta=2.0)
    assert [list(own) for own in differing([other, new, stronger])] == [
        ["sac.actor_rate"],
        ["beta", "sac.actor_rate"],
        ["beta", "sac.actor_rate"],
    ]


def test_settings_of_the_same_name_in_two_algorithms_are_each_ones_own(tmp_path):
    """TD3+BC's alpha is a weight, Count-MORL's a number of deviations."""
    about = json.loads((make(tmp_path / "a").path / "config.json").read_text())
    made = []
    for name, alpha in (("count-morl", 0.5), ("td3-bc", 2.5), ("td3-bc", 3.0)):
        config = {"alpha": alpha, "epochs": len(made)}
        facts = about | {"algorithm": name, "config": config}
        made.append(Run.create(tmp_path / f"run{len(made)}", facts))
    made.append(Run.create(tmp_path / "same", about | {"algorithm": "td3-bc", "config": config}))
    assert differing(made[:2]) == [{"alpha": 0.5, "epochs": 0}, {"alpha": 2.5, "epochs": 1}]
    assert differing(made[2:]) == [{}, {}]  # Of one algorithm only what differs is told.
    assert differing(made[:3])[1:] == [{"alpha": 2.5, "epochs": 1}, {"alpha": 3.0, "epochs": 2}]


def test_one_evaluation_has_no_spread(run_cli, tmp_path):
    make(tmp_path / "run", scores=(6.0,))
    code, out, _ = run_cli("compare", "run")
    assert code == 0
    assert " 6.0 " in out
    assert "±" not in out
    assert "no setting differs" in out


def test_runs_are_called_by_their_folders(tmp_path):
    one, two, other = (summarize(make(tmp_path / at)) for at in ("x/one", "x/two", "y/one"))
    assert labels([one, two]) == ["one", "two"]
    assert labels([one, other]) == [str(tmp_path / "x/one"), str(tmp_path / "y/one")]


def test_curves_are_drawn(tmp_path):
    runs = [summarize(make(tmp_path / name)) for name in "ab"]
    drawn = draw_curves(runs, tmp_path / "curves.png")
    assert drawn.read_bytes().startswith(b"\x89PNG")


def test_a_run_without_a_policy_says_so(tmp_path):
    with pytest.raises(RunError, match="no epoch of a policy"):
        summarize(make(tmp_path / "run", scores=()))


def test_command(run_cli, tmp_path):
    make(tmp_path / "one")
    make(tmp_path / "two", beta=3.0)
    code, out, err = run_cli("compare", "one", "two", "--figure", "curves.png")
    assert (code, err) == (0, "")
    assert "two: count-morl on toy; beta 3.0, sac.actor_rate 0.3" in out
    assert "3.0 ± 2.2" in out
    assert (tmp_path / "curves.png").exists()
    code, out, _ = run_cli("compare", "one", "two", "--json", "--last", 1)
    assert [row["score"] for row in json.loads(out)["runs"]] == [6.0, 6.0]
    assert run_cli("compare")[0] == 2
    assert run_cli("compare", "one", "--last", 0)[0] == 2
    assert run_cli("compare", "nowhere")[0] == 2
    (tmp_path / "folder.png").mkdir()
    for wrong in ("curves.pdf", ".", "folder.png"):
        assert run_cli("compare", "one", "--figure", wrong)[0] == 2
    (tmp_path / "two" / "config.json").write_text('{"format": 1, "versions": {}}')
    code, _, err = run_cli("compare", "one", "two")
    assert (code, err.count("\n")) == (2, 1)
    assert "config.json is incomplete" in err


def test_scores_and_returns_are_not_mixed(tmp_path):
    scored = summarize(make(tmp_path / "scored"))
    with pytest.raises(RunError, match="cannot be compared"):
        measure_of([scored, scored | {"measure": "return"}])
    assert measure_of([scored, scored | {"measure": None}]) == "score"
