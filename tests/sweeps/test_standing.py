import json

import pytest

from countmorl.sweeps.standing import epochs_of, last_lines, standing

CONFIG = {"epochs": 50, "clone_epochs": 3, "model": {"max_epochs": 40}, "codes": {"fit_epochs": 6}}


def write(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_where_a_run_stands(tmp_path):
    assert standing(tmp_path, CONFIG) is None
    write(
        tmp_path / "metrics.jsonl",
        {"stage": "model", "epoch": 7},
        {"stage": "policy", "epoch": 10, "score": 3.0},
        {"stage": "policy", "epoch": 11},
    )
    write(
        tmp_path / "timing.jsonl",
        {"stage": "model", "epoch": 7, "seconds": 100.0},
        {"stage": "policy", "epoch": 10, "seconds": 1.0},
        {"stage": "policy", "epoch": 11, "seconds": 3.0},
    )
    at = standing(tmp_path, CONFIG)
    assert (at.stage, at.epoch, at.epochs, at.score) == ("policy", 11, 50, 3.0)
    assert at.seconds_left == 39 * 2.0


@pytest.mark.parametrize(
    ("stage", "epochs"),
    [("policy", 50), ("clone", 3), ("model", 40), ("model-1", 40), ("codes-16", 6), ("plan", None)],
)
def test_epochs_of_stages(stage, epochs):
    assert epochs_of(stage, CONFIG) == epochs


@pytest.mark.parametrize("config", [{}, {"epochs": "many", "model": 3}])
def test_settings_that_do_not_tell(config):
    assert epochs_of("policy", config) is None
    assert epochs_of("model", config) is None


def test_returns_and_values_stand_where_there_is_no_score(tmp_path):
    write(tmp_path / "metrics.jsonl", {"stage": "policy", "epoch": 1, "return": -5})
    assert standing(tmp_path, {}).score == -5.0
    assert standing(tmp_path, {}).seconds_left is None


def test_torn_damaged_and_long_files_are_read_as_far_as_they_go(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"epoch": 1}\nnot json\n[3]\n{"epoch": "x"}\n{"epoch": 2}\n{"epoch": 3')
    assert last_lines(path) == [{"epoch": 1}, {"epoch": 2}]
    write(path, *({"epoch": n, "fill": "x" * 100} for n in range(2000)))
    found = last_lines(path)
    assert found[-1]["epoch"] == 1999
    assert 100 < len(found) < 600
    assert last_lines(tmp_path / "none") == []


@pytest.mark.parametrize("seconds", [10**400, float("nan"), float("inf"), True, "x"])
def test_numbers_that_no_table_shows_are_passed_over(tmp_path, seconds):
    write(tmp_path / "metrics.jsonl", {"stage": "policy", "epoch": 1, "score": seconds})
    write(
        tmp_path / "timing.jsonl",
        {"stage": "policy", "epoch": 1, "seconds": seconds},
        {"stage": "policy", "epoch": 1, "seconds": 2.0},
    )
    at = standing(tmp_path, CONFIG)
    left = None if at is None else at.seconds_left
    assert at is None or at.score is None
    assert left is None or left == 49 * 2.0
