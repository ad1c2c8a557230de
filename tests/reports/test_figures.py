import json

import pytest

from countmorl import Run
from countmorl.errors import RunError
from countmorl.reports.figures import draw_all, learning_curve


def make(folder, records):
    run = Run.create(folder, {"algorithm": "count-morl", "data": {"name": "toy"}})
    for record in records:
        run.append("metrics.jsonl", {"stage": "policy", **record})
    return run


def judged(epoch):
    return {
        "epoch": epoch,
        "return": 3.0 * epoch,
        "return_std": 1.0,
        "rollout_unseen": [0.1, 0.2],
        "rollout_count_median": [5.0, 4.0],
        "rollout_penalty": [0.4, 0.5],
    }


def test_every_figure_is_drawn_where_there_is_data(tmp_path):
    run = make(tmp_path / "run", [judged(1), judged(2)])
    bins = [{"count": 2.0, "error": 0.5, "error_se": 0.1, "rows": 9}]
    facts = {"bins": bins, "rank_correlation": -0.5}
    (run.path / "calibration.json").write_text(json.dumps(facts))
    names = [path.name for path in draw_all(run, behaviour=1.0)]
    assert names == ["learning-curve.png", "coverage.png", "calibration.png"]
    for name in names:
        assert (run.path / name).read_bytes().startswith(b"\x89PNG")


def test_a_method_that_tells_of_unseen_pairs_but_not_of_counts_has_no_coverage(tmp_path):
    own = {k: v for k, v in judged(1).items() if k != "rollout_count_median"}
    names = [path.name for path in draw_all(make(tmp_path / "run", [own]))]
    assert names == ["learning-curve.png"]


def test_a_run_without_evaluations_says_so(tmp_path):
    run = make(tmp_path / "run", [{"epoch": 1, "loss": 1.0}])
    with pytest.raises(RunError, match="never evaluated"):
        learning_curve(run)
    with pytest.raises(RunError, match="nothing to draw yet"):
        draw_all(run)
