import matplotlib.pyplot as plots
import numpy as np
import pytest

from countmorl.errors import RunError
from countmorl.reports import figures
from countmorl.reports.figures import axes_of, coverage, draw_all, learning_curve, save_figure
from countmorl.runs.folder import Run
from made_runs import CALIBRATION, judged, make_run, manifest


def make(folder, lines, **about):
    run = Run.create(folder, manifest(**about))
    for line in lines:
        run.append("metrics.jsonl", line)
    return run


@pytest.fixture
def drawn(monkeypatch):
    """The axes of every figure that is saved, by the name of its file."""
    found, save = {}, figures.save_figure

    def kept(figure, path):
        found[path.name] = figure.axes
        return save(figure, path)

    monkeypatch.setattr(figures, "save_figure", kept)
    return found


def test_every_figure_is_drawn_where_there_is_data(tmp_path):
    before = plots.get_fignums()
    run = make_run(tmp_path / "run")
    names = [path.name for path in draw_all(run, behaviour=1.0)]
    assert names == ["learning-curve.png", "coverage.png", "calibration.png"]
    for name in names:
        assert (run.path / name).read_bytes().startswith(b"\x89PNG")
    assert plots.get_fignums() == before


def test_the_learning_curve_shows_scores_or_returns(tmp_path, drawn):
    learning_curve(make_run(tmp_path / "scored"))
    (axes,) = drawn["learning-curve.png"]
    assert axes.get_lines()[0].get_ydata().tolist() == [1, 2, 6]
    assert axes.get_ylabel() == "normalised score"
    learning_curve(make(tmp_path / "run", [judged(1), judged(2)]), behaviour=4.0)
    (axes,) = drawn["learning-curve.png"]
    assert axes.get_lines()[0].get_ydata().tolist() == [3, 6]
    assert axes.get_lines()[1].get_ydata() == [4, 4]
    assert (axes.get_ylabel(), axes.get_title()) == ("return", "count-morl on toy")


def test_evaluations_by_another_judge_need_no_spread(tmp_path):
    line = {k: v for k, v in judged(1).items() if k != "return_std"}
    assert learning_curve(make(tmp_path / "run", [line])).exists()


class TestCoverage:
    def test_shows_first_and_last_step(self, tmp_path, drawn):
        coverage(make(tmp_path / "run", [judged(1), judged(2)]))
        unseen, counts, _ = drawn["coverage.png"]
        assert [line.get_ydata().tolist() for line in unseen.get_lines()] == [[10, 10], [20, 20]]
        assert [line.get_ydata().tolist() for line in counts.get_lines()] == [[5, 5], [4, 4]]
        assert unseen.get_ylim()[1] == pytest.approx(22)

    def test_where_nothing_is_unseen_no_panel_is_empty(self, tmp_path, drawn):
        coverage(make(tmp_path / "run", [judged(1) | {"rollout_unseen": [0.0, 0.0]}]))
        counts, _ = drawn["coverage.png"]
        assert [text.get_text() for text in counts.texts] == ["no imagined pair was unseen"]

    def test_rollouts_of_one_step(self, tmp_path, drawn):
        short = {k: v[:1] if isinstance(v, list) else v for k, v in judged(1).items()}
        coverage(make(tmp_path / "run", [short]))
        assert len(drawn["coverage.png"][0].get_lines()) == 1

    def test_a_method_that_tells_of_unseen_pairs_but_not_of_counts_has_none(self, tmp_path):
        own = {k: v for k, v in judged(1).items() if k != "rollout_count_median"}
        names = [path.name for path in draw_all(make(tmp_path / "run", [own]))]
        assert names == ["learning-curve.png"]


def test_errors_by_count(tmp_path, drawn):
    figures.errors(make_run(tmp_path / "run"))
    (axes,) = drawn["calibration.png"]
    line = axes.get_lines()[0]
    assert (line.get_xdata().tolist(), list(line.get_ydata())) == ([2.0], [0.5])
    assert f"{CALIBRATION.rank_correlation:.2f}" in axes.get_title()


def test_a_run_without_evaluations_says_so(tmp_path):
    run = make(tmp_path / "run", [{"stage": "policy", "epoch": 1, "loss": 1.0}])
    with pytest.raises(RunError, match="never evaluated"):
        learning_curve(run)
    with pytest.raises(RunError, match=r"nothing to draw: its policy was never .* no calibration"):
        draw_all(run)


def test_names_are_no_formulas(tmp_path):
    run = make(tmp_path / "run", [judged(1)], algorithm=r"$\own:$", data=None)
    assert learning_curve(run).exists()


def test_a_figure_is_written_whole_and_closed(tmp_path):
    before = plots.get_fignums()
    figure, axes = axes_of(rows=2)
    assert len(np.atleast_1d(axes)) == 2
    assert save_figure(figure, tmp_path / "deep" / "a.png").exists()
    with pytest.raises(RunError, match="is a folder"):
        save_figure(axes_of()[0], tmp_path)
    assert plots.get_fignums() == before
