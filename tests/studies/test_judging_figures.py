"""The figure of estimates against the truth."""

from countmorl.studies.judging_figures import estimates_figure
from judged import field, tried


def test_a_panel_for_each_estimator_that_spoke(tmp_path):
    good = tried("a", 20, fitted=(18, 16, 22), model=None)
    wild = tried("b", 5, fitted=(1e9, -1e9, 2e9), model=None)
    estimates_figure([field(good, wild)], tmp_path / "one.svg")
    estimates_figure([field(good, name=r"$\no$")], tmp_path / "names_are_no_formulas.svg")
    assert "fitted Q" in (tmp_path / "one.svg").read_text() or (tmp_path / "one.svg").stat().st_size
