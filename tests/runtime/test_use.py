"""What a run's folder says of its counts; what is not there is said in a sentence."""

import json
import shutil

import numpy as np
import pytest

from countmorl import Run, train
from countmorl.errors import RunError
from countmorl.runtime.use import run_parts
from small_runs import QUIET, small, vector_log


@pytest.fixture(scope="module")
def trained_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("use") / "run"
    return train(small("count-morl", epochs=1), vector_log(), out=out, **QUIET)


@pytest.fixture
def copy(trained_run, tmp_path):
    return Run(shutil.copytree(trained_run.path, tmp_path / "copy"))


def test_parts_of_a_run(trained_run):
    parts = run_parts(trained_run.path)
    assert parts["coder"].members == len(parts["tables"].each) == 2
    assert parts["use"].space.low.tolist() == [0.0]


def test_runs_without_counts(tmp_path):
    with pytest.raises(RunError, match="holds no counts"):
        run_parts(tmp_path)


def test_a_counter_of_ones_own_is_not_known_here(copy):
    arrays, meta = copy.load_result("counter")
    copy.save_result("counter", arrays, use=meta["use"] | {"counter": "own"})
    with pytest.raises(RunError, match="need the code that it is made of"):
        run_parts(copy.path)


def test_incomplete_stages(copy):
    arrays, meta = copy.load_result("counter")
    copy.save_result("counter", {".limits": np.ones(2, np.float32)}, use=meta["use"])
    with pytest.raises(RunError, match=r"counter.safetensors is incomplete"):
        run_parts(copy.path)
    copy.save_result("counter", arrays, use=meta["use"])
    model, _ = copy.load_result("model")
    copy.save_result("model", model | {".elites": np.array([7])})
    with pytest.raises(RunError, match="its elites are not members"):
        run_parts(copy.path)


def test_what_is_thin_in_older_runs(copy):
    path = copy.path / "calibration.json"
    saved = json.loads(path.read_text())
    assert run_parts(copy.path)["thin"] == saved["thin"]
    for changes, wanted in (
        ({"thin": None, "bins": [{"count": 3.5}]}, 3.5),
        ({"thin": None, "bins": [{"count": 0.5}]}, 1.0),
        ({"thin": None, "bins": []}, 1.0),
        ({"thin": "much"}, 1.0),
    ):
        path.write_text(json.dumps(saved | changes))
        assert run_parts(copy.path)["thin"] == wanted
    path.unlink()
    assert run_parts(copy.path)["thin"] == 1.0
