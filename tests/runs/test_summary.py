import json

import pytest

from countmorl.runs.folder import Run
from countmorl.runs.manifest import DataOrigin
from countmorl.runs.summary import LAST, summarize
from made_runs import CALIBRATION, judged, make_run, manifest


def test_a_run_in_numbers(tmp_path):
    facts = summarize(make_run(tmp_path / "run"), last=2)
    assert (facts.name, facts.algorithm, facts.data) == ("run", "count-morl", "toy")
    assert (facts.measure, facts.values, facts.judged_at) == ("score", (1, 2, 6), (1, 2, 3))
    assert (facts.mean, facts.spread) == (4, 2)
    assert (facts.epochs, facts.finished) == (3, False)
    assert (facts.q, facts.penalty) == (30, pytest.approx(0.2))
    assert (facts.rows_per_code, facts.typical_count) == (4.5, CALIBRATION.median_count)
    # The middle of 100, 200 and 300: the model has a speed of its own, but compiles as well.
    assert (facts.updates_per_second, facts.compile_seconds) == (200, 8)


def test_the_last_five_evaluations_count(tmp_path):
    assert LAST == 5
    assert summarize(make_run(tmp_path / "run", scores=(100.0, 1, 2, 3, 4, 5))).mean == 3


def test_one_evaluation_has_no_spread(tmp_path):
    facts = summarize(make_run(tmp_path / "run", scores=(6.0,)))
    assert (facts.mean, facts.spread) == (6, None)


@pytest.mark.parametrize(
    ("told", "log"), [({}, None), ({"log_return": 900.0, "log_score": 9.0}, 9)]
)
def test_the_log_is_told_in_the_same_measure(tmp_path, told, log):
    data = DataOrigin(name="toy", hash="", **told)
    assert summarize(make_run(tmp_path / "run", data=data)).log == log


def test_returns_where_no_references_are_known(tmp_path):
    run = Run.create(tmp_path / "run", manifest())
    for epoch in (1, 2):
        run.append("metrics.jsonl", judged(epoch))
    facts = summarize(run)
    assert (facts.measure, facts.values, facts.mean) == ("return", (3, 6), 4.5)


def test_epochs_between_evaluations_are_counted_and_have_no_value(tmp_path):
    run = Run.create(tmp_path / "run", manifest())
    for epoch in (1, 2, 3):
        line = judged(epoch, 10.0)
        run.append("metrics.jsonl", line if epoch == 2 else {"stage": "policy", "epoch": epoch})
    facts = summarize(run)
    assert (facts.epochs, facts.judged_at, facts.last.epoch, facts.q) == (3, (2,), 2, None)


def test_a_run_that_has_only_begun(tmp_path):
    facts = summarize(Run.create(tmp_path / "run", manifest(data=None)))
    empty = (facts.data, facts.measure, facts.mean, facts.last, facts.updates_per_second)
    assert empty == (None,) * 5
    assert (facts.epochs, facts.values, facts.compile_seconds) == (0, (), 0)


def test_a_run_that_counts_nothing(tmp_path):
    facts = summarize(make_run(tmp_path / "run", counted=False))
    assert (facts.rows_per_code, facts.typical_count) == (None, None)


def test_as_a_table_for_json(tmp_path):
    values = summarize(make_run(tmp_path / "run")).as_dict()
    assert json.loads(json.dumps(values))["values"] == [1, 2, 6]
    assert "last" not in values
    last = {name: values[name] for name in ("evaluated_epoch", "return", "score", "score_std")}
    assert last == {"evaluated_epoch": 3, "return": 9, "score": 6, "score_std": 0.5}


def test_a_trained_run(trained):
    facts = summarize(Run.open(trained / "run"))
    assert (facts.finished, facts.epochs, facts.measure) == (True, 4, None)
    assert facts.policy == str(trained / "run" / "policy.safetensors")
    assert facts.updates_per_second > 0
