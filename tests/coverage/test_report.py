"""Coverage of logs and of runs, from end to end."""

import json

import pytest

from countmorl import Run, load, train
from countmorl.coverage import report
from countmorl.coverage.report import Coverage, coverage_of_data, coverage_of_run
from countmorl.errors import RunError
from countmorl.runtime.levels import LEVELS
from small_runs import QUIET, small, vector_log
from worlds import linear_log


@pytest.fixture(scope="module")
def found(pendulum):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "CLONE_UPDATES", 20)
        return coverage_of_run(Run.open(pendulum / "run"), steps=6)


def test_a_policy_beside_a_clone(found):
    policy, clone = found.ways
    assert (policy.name, clone.name) == ("policy", "clone")
    assert 0 < len(policy.by_step) <= 6
    assert sum(policy.by_step[0].values()) == pytest.approx(1)
    assert set(policy.shares) == set(LEVELS)
    assert found.density.counted_by == "codes"
    assert found.valued_by == "the run's own critics"
    assert (policy.left > 0) == bool(found.ways_out)


def test_all_of_it_is_json(found):
    back = json.loads(json.dumps(found.as_dict()))
    assert set(back) >= {"density", "untried", "situations", "ways", "ways_out", "log_next"}
    assert back["ways"][0]["name"] == "policy"


def test_of_data_alone():
    found = coverage_of_data(linear_log(60))
    assert isinstance(found, Coverage)
    assert found.ways == ()
    assert found.density.rows == 1800


def test_a_run_without_a_model_says_so(tmp_path):
    run = train(small("bc", epochs=1), vector_log(), out=tmp_path / "run", **QUIET)
    with pytest.raises(RunError, match="--data"):
        coverage_of_run(run)
    found = coverage_of_run(run, data=load(vector_log()))
    assert found.notes == ("the run has no model (bc), so where a policy goes is not known",)
    assert found.density.counted_by == "neighbours"
