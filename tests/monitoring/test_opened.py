import numpy as np
import pytest

from countmorl import counts
from countmorl.errors import RunError
from countmorl.export.bundle import ExportConfig, export
from countmorl.monitoring.opened import opened
from monitored import walks


def test_a_run_that_counts(counting_run):
    baseline, count = opened(counting_run)
    assert baseline.origin.counter is not None
    assert count is not None
    log = walks(seed=9)
    theirs = counts(counting_run)(log["obs"], log["action"]).members.mean(axis=0)
    # JAX sums in 32 bits: a code's number that is nearly 0 may fall on its other side.
    assert (count(log["obs"], log["action"]) == theirs).mean() > 0.98


def test_a_run_that_does_not_count(trained):
    baseline, count = opened(trained / "run")
    assert (count, baseline.origin.counter) == (None, None)


def test_a_bundle_alone(counting_run, tmp_path):
    export(counting_run, tmp_path / "bundle", config=ExportConfig(onnx=False))
    of_run, count = opened(counting_run)
    of_bundle, counted = opened(tmp_path / "bundle")
    assert of_bundle.origin == of_run.origin
    assert np.array_equal(of_bundle.pool.reference, of_run.pool.reference)
    log = walks(seed=9)
    assert count is not None
    assert counted is not None
    assert np.array_equal(counted(log["obs"], log["action"]), count(log["obs"], log["action"]))


def test_a_bundle_without_a_baseline(counting_run, tmp_path):
    config = ExportConfig(onnx=False, baseline=False)
    export(counting_run, tmp_path / "bundle", config=config)
    with pytest.raises(RunError, match="nothing to compare a log with"):
        opened(tmp_path / "bundle")


def test_no_run(tmp_path):
    with pytest.raises(RunError, match="There is no run folder"):
        opened(tmp_path / "nowhere")
