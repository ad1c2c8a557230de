import numpy as np
import pytest

from countmorl import counts
from countmorl.errors import RunError
from countmorl.monitoring.opened import opened
from monitored import walks


def test_a_run_that_counts(counting_run):
    baseline, count = opened(counting_run)
    assert baseline.origin.counter is not None
    assert count is not None
    log = walks(seed=9)
    theirs = counts(counting_run)(log["obs"], log["action"]).members.mean(axis=0)
    assert np.array_equal(count(log["obs"], log["action"]), theirs)


def test_a_run_that_does_not_count(trained):
    baseline, count = opened(trained / "run")
    assert (count, baseline.origin.counter) == (None, None)


def test_no_run(tmp_path):
    with pytest.raises(RunError, match="There is no run folder"):
        opened(tmp_path / "nowhere")
