import json

from made_runs import make_run


def test_every_figure_is_drawn_into_the_run(run_cli, tmp_path):
    make_run(tmp_path / "run")
    code, out, err = run_cli("figures", "run")
    assert (code, err) == (0, "")
    names = ["learning-curve.png", "coverage.png", "calibration.png"]
    assert out.splitlines() == [f"run/{name}" for name in names]
    for name in names:
        assert (tmp_path / "run" / name).read_bytes().startswith(b"\x89PNG")
    assert json.loads(run_cli("figures", "run", "--json")[1]) == {
        "figures": [f"run/{name}" for name in names]
    }


def test_a_run_without_anything_to_draw_says_why(run_cli, trained, tabular):
    for run in (trained / "run", tabular / "run"):
        code, out, err = run_cli("figures", run)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"{run} has nothing to draw: its policy was never evaluated" in err


def test_a_damaged_run_is_a_sentence(run_cli, tmp_path):
    run = make_run(tmp_path / "run")
    (run.path / "calibration.json").write_text("{}")
    code, _, err = run_cli("figures", "run")
    assert (code, err.count("\n")) == (2, 1)
    assert "calibration.json is damaged" in err
