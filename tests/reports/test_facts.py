import pytest

from countmorl.errors import RunError
from countmorl.reports.facts import read_facts
from made_runs import CALIBRATION, finish, judged, make_facts, make_run


def test_a_run_in_facts(tmp_path):
    facts = read_facts(finish(make_run(tmp_path / "run", seed=3)), last=2)
    assert (facts.seed, facts.data, facts.measure) == (3, ("toy", "abcdefghijkl"), "score")
    assert facts.summary.mean == (2 + 6) / 2
    assert facts.seconds == {"model": 1.0, "policy": 3.0}
    assert facts.unseen == pytest.approx((0.1 + 0.2) / 2)
    assert (facts.calibration, facts.peak_memory) == (CALIBRATION, None)


def test_unseen_pairs_are_those_of_the_last_epochs(tmp_path):
    run = make_run(tmp_path / "run", scores=(1.0,) * 3, counted=False)
    for epoch in range(4, 9):
        run.append("metrics.jsonl", judged(epoch, 1.0) | {"rollout_unseen": [0.5, 0.7]})
    facts = read_facts(run)
    assert (facts.unseen, facts.calibration) == (pytest.approx(0.6), None)


def test_the_peak_of_memory_is_the_highest(tmp_path):
    run = make_run(tmp_path / "run")
    for epoch, peak in ((4, 3e9), (5, 2e9)):
        line = {"stage": "policy", "epoch": epoch, "seconds": 1.0, "peak_memory": peak}
        run.append("timing.jsonl", line)
    assert read_facts(run).peak_memory == 3e9


def test_a_score_that_is_no_number_is_damage(tmp_path):
    run = make_run(tmp_path / "run")
    run.append("metrics.jsonl", judged(4, float("nan")))
    with pytest.raises(RunError, match="is damaged: a score is no number"):
        read_facts(run)


def test_progress():
    assert make_facts(1.0, 2.0).progress == "2 epochs"
    assert make_facts(1.0, 2.0, config={"epochs": 100}).progress == "2 of 100 epochs"
    assert make_facts(1.0, config={"epochs": "all"}).wanted_epochs is None
    assert make_facts(1.0, data=None).data == ("unknown data", "")
