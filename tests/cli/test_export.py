import json

import pytest


@pytest.fixture
def exported(run_cli, trained, tmp_path):
    return run_cli("export", trained / "run", "-o", tmp_path / "bundle", "--no-onnx")


def test_a_run_without_counts(exported, tmp_path):
    code, out, _ = exported
    assert code == 0
    assert "runtime.py" in out
    assert "nothing will warn where the log is left" in out
    assert (tmp_path / "bundle" / "README.md").read_text().startswith("# A policy for production")


def test_json(run_cli, trained, tmp_path):
    code, out, _ = run_cli(
        "export", trained / "run", "-o", tmp_path / "bundle", "--no-onnx", "--json"
    )
    said = json.loads(out)
    assert (code, said["counts"], said["guard"], said["notes"]) == (0, None, None, [])
    assert "contract.json" in said["files"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--far", "fall_back"), "Without a guard"),
        (("--reach", "-1"), "`reach` must be at least 0"),
        (("--data", "gone.npz"), "--data"),
    ],
)
def test_mistakes_are_sentences(run_cli, trained, tmp_path, arguments, sentence):
    code, _, err = run_cli(
        "export", trained / "run", "-o", tmp_path / "bundle", "--no-onnx", *arguments
    )
    assert (code, sentence in err) == (2, True)
    assert not (tmp_path / "bundle").exists()


def test_a_folder_that_is_taken(run_cli, trained, exported, tmp_path):
    code, _, err = run_cli("export", trained / "run", "-o", tmp_path / "bundle", "--no-onnx")
    assert code == 2
    assert "exists already" in err
