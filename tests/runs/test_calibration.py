import json
from dataclasses import replace

import pytest

from countmorl.configs import to_json
from countmorl.errors import RunError
from countmorl.runs.calibration import Calibration
from made_runs import CALIBRATION


@pytest.mark.parametrize("rows_per_code", [4.5, None])
def test_what_is_written_is_read(tmp_path, rows_per_code):
    facts = replace(CALIBRATION, rows_per_code=rows_per_code)
    facts.write(tmp_path)
    assert Calibration.read(tmp_path) == facts
    assert json.loads((tmp_path / "calibration.json").read_text())["bins"][0]["rows"] == 4


def test_one_of_an_earlier_version_is_read(tmp_path):
    older = to_json(CALIBRATION)
    del older["jolted"], older["held_out"]
    (tmp_path / "calibration.json").write_text(json.dumps(older))
    assert Calibration.read(tmp_path) == replace(CALIBRATION, jolted=(), held_out=())


def test_a_run_that_counts_nothing(tmp_path):
    with pytest.raises(RunError, match=r"has no calibration: .* such as count-morl"):
        Calibration.read(tmp_path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": 3}, "`verdict` must be str"),
        ({"bins": [{"count": 1.0}]}, "config of Bin lacks error, error_se, rows"),
        ({"swapped_actions": None}, "SwappedActions must be a table"),
        ({"surprise": 1}, "no setting 'surprise'"),
    ],
)
def test_a_damaged_one_is_said(tmp_path, changes, words):
    (tmp_path / "calibration.json").write_text(json.dumps(to_json(CALIBRATION) | changes))
    with pytest.raises(RunError, match=f"calibration.json is damaged: .*{words}"):
        Calibration.read(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_what_is_no_table(tmp_path, text):
    (tmp_path / "calibration.json").write_text(text)
    with pytest.raises(RunError, match="the calibration of a run"):
        Calibration.read(tmp_path)
