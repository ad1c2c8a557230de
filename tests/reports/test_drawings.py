import matplotlib.pyplot as plots
import pytest

from countmorl.errors import RunError
from countmorl.reports import drawings
from countmorl.reports.drawings import draw_report
from countmorl.reports.report import make_report
from countmorl.runs.manifest import DataOrigin
from countmorl.runs.options import RunOptions
from made_runs import HOSTILE, make_run, make_study

NAMES = ("curves", "profiles", "iqm", "improvement")


@pytest.fixture
def drawn(monkeypatch):
    """Every figure that is saved, by its name."""
    found, save = {}, drawings._save

    def kept(plots, figure, stem):
        found[stem.name] = figure
        return save(plots, figure, stem)

    monkeypatch.setattr(drawings, "_save", kept)
    return found


def test_every_figure_in_both_forms(tmp_path):
    before = plots.get_fignums()
    paths = draw_report(make_report([make_study(tmp_path / "runs")]), tmp_path / "figures")
    assert [path.name for path in paths] == [f"{n}.{e}" for n in NAMES for e in ("png", "svg")]
    for path in paths:
        wanted = b"\x89PNG" if path.suffix == ".png" else b"<?xml"
        assert path.read_bytes().startswith(wanted)
    assert plots.get_fignums() == before


@pytest.mark.slow
def test_the_same_runs_give_the_same_bytes(tmp_path):
    report = make_report([make_study(tmp_path / "runs")])
    first = [path.read_bytes() for path in draw_report(report, tmp_path / "a")]
    assert first == [path.read_bytes() for path in draw_report(report, tmp_path / "b")]


def test_what_is_drawn(tmp_path, drawn):
    study = make_study(tmp_path / "runs", methods=("bc", "cql"))
    draw_report(make_report([study]), tmp_path)
    curves = drawn["curves"]
    assert [axes.get_title() for axes in curves.axes] == ["hopper-medium-v2", "toy"]
    bc, _ = curves.axes[0].get_lines()
    # Seeds 0 and 1 have 0 to 5 and 1 to 6.
    assert bc.get_ydata().tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert len(curves.axes[0].collections) == 2
    (texts,) = (axes.texts for axes in drawn["improvement"].axes)
    assert [text.get_text() for text in texts] == ["0.00", "1.00"]


def test_names_are_no_formulas(tmp_path):
    options = RunOptions(label=HOSTILE)
    for name in ("$a", "b$"):
        run = DataOrigin(name=f"{name} $\\no$", hash="")
        make_run(tmp_path / "runs" / name, options=options, data=run)
    paths = draw_report(make_report([tmp_path / "runs"]), tmp_path / "figures")
    assert len(paths) == 6  # One method: nothing to be better than.


@pytest.mark.slow
def test_four_panels_make_a_square_and_five_have_a_gap(tmp_path, drawn):
    data = ("a", "b", "c", "d", "e")
    make_study(tmp_path / "four", methods=("bc",), data=data[:4], seeds=1)
    make_study(tmp_path / "five", methods=("bc",), data=data, seeds=1)
    shown = {}
    for name in ("four", "five"):
        draw_report(make_report([tmp_path / name]), tmp_path)
        grid = drawn["curves"].axes[0].get_gridspec()
        shown[name] = (grid.nrows, grid.ncols, sum(a.get_visible() for a in drawn["curves"].axes))
    assert shown == {"four": (2, 2, 4), "five": (2, 3, 5)}


def test_nothing_to_draw(tmp_path):
    make_run(tmp_path / "run", scores=())
    with pytest.raises(RunError, match="None of these runs was evaluated"):
        draw_report(make_report([tmp_path]), tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
