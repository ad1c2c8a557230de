"""`countmorl study steps`."""

import json

import numpy as np
import pytest

from countmorl import train
from small_runs import QUIET, small

pytest.importorskip("gymnasium")


@pytest.mark.slow
def test_a_table_a_figure_and_json(run_cli, tmp_path):
    """CartPole, whose states can be put into the simulator."""
    run_cli("data", "collect", "CartPole-v1", tmp_path / "log.npz", "--rows", "300")
    train(small("mopo", epochs=1), tmp_path / "log.npz", out=tmp_path / "r", **QUIET)
    words = ["study", "steps", tmp_path / "r", "--horizon", "3", "--starts", "5"]
    words += ["--clone-updates", "5"]
    code, out, _ = run_cli(*words, "--out", tmp_path / "steps.png")
    assert code == 0
    assert out.splitlines()[1].split() == ["step", "1", "step", "2"]
    assert (tmp_path / "steps.png").exists()
    _, out, _ = run_cli(*words, "--json")
    (found,) = json.loads(out)
    assert found["error"][0] > 0
    assert found["going"][0] == 1
    assert np.all(np.diff(found["uncut"]) <= 0)


def test_no_run_is_a_sentence(run_cli):
    code, _, error = run_cli("study", "steps")
    assert code == 2
    assert "at least one run" in error
