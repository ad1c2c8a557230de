import json
import shutil

import pytest

from countmorl import Guard
from countmorl.guarding.choose import DWELL

FEW = ("--quick", "--clone-updates", 20)


@pytest.fixture
def run(pendulum, tmp_path):
    return shutil.copytree(pendulum / "run", tmp_path / "run")


@pytest.mark.slow
def test_a_curve_and_a_choice(run_cli, run):
    code, out, err = run_cli("guard", run, *FEW, "--fall-back", "fixed", "--fixed", 0.5)
    assert code == 0, err
    assert "unguarded" in out
    assert "fall-back alone" in out
    assert f"the action is (0.5,), for {DWELL} steps at least" in out
    assert Guard.load(run).settings.fixed == (0.5,)


@pytest.mark.slow
def test_json(run_cli, run):
    code, out, _ = run_cli("guard", run, *FEW, "--counts", "codes", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["settings"]["counts"] == "codes"
    assert found["chosen"]["threshold"] == found["settings"]["threshold"]
    assert len(found["points"]) == 8


def test_bad_input_is_a_sentence(run_cli, run, tmp_path):
    for words, sentence in (
        ((run, "--quantile", 2), "`quantile` must be above 0"),
        ((run, "--fall-back", "fixed", *FEW), "needs `fixed`"),
        ((run, *FEW, "--simulate"), "no task that can be simulated"),
        ((run, "--out", "a.gif"), "wanted .png"),
        ((tmp_path / "none",), "no run folder"),
    ):
        code, _, err = run_cli("guard", *words)
        assert (code, sentence in err) == (2, True), err
