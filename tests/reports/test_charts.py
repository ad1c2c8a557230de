import json

import pytest

from countmorl.reports import charts
from countmorl.reports.aggregates import aggregate
from countmorl.reports.curves import panels
from countmorl.reports.groups import group
from countmorl.reports.scores import score_tables
from countmorl.runs.manifest import DataOrigin
from countmorl.runs.options import RunOptions
from made_runs import HOSTILE, make_facts


def study(seeds=2, labels=("a", "b", HOSTILE)):
    return group(
        [
            make_facts(
                10.0 * rank + seed,
                20.0 * rank + seed,
                options=RunOptions(label=label, seed=seed),
                data=DataOrigin(name=data, hash=""),
            )
            for rank, label in enumerate(labels)
            for seed in range(seeds)
            for data in ("x", "y")
        ]
    )


def drawn(made):
    """Every figure of a study."""
    styles = charts.style(made.methods)
    found = aggregate(score_tables(made, 5)[0])
    return {
        "curves": charts.learning_curves(panels(made)[0], styles),
        "profiles": charts.profiles(found, styles),
        "iqm": charts.interquartile_means(found, styles),
        "improvement": charts.improvements(found, made.methods),
    }


def test_every_figure_is_plain_json_with_names_as_they_are():
    for figure in drawn(study()).values():
        text = json.dumps(figure, allow_nan=False)
        assert "<script" not in text
    legend = [trace.get("name") for trace in drawn(study())["curves"]["data"]]
    assert charts.literal(HOSTILE) in legend
    assert (
        charts.literal(HOSTILE) == "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#36;x_1&#36; | %"
    )


def test_bands_are_hidden_with_their_lines():
    line, band, *_ = drawn(study(labels=("a",)))["curves"]["data"]
    assert line["legendgroup"] == band["legendgroup"]
    assert (band["showlegend"], band["fill"]) == (False, "toself")
    assert line["y"] == [0.5, 0.5]
    # One deviation above and below: of 0 and 1 it is the root of a half.
    assert band["x"] == [1, 2, 2, 1]
    assert band["y"] == pytest.approx([1.20711, 1.20711, -0.207107, -0.207107])


def test_one_seed_has_neither_bands_nor_whiskers():
    found = drawn(study(seeds=1))
    assert len(found["curves"]["data"]) == len(found["profiles"]["data"]) == 3
    assert all(trace["error_x"] == {"visible": False} for trace in found["iqm"]["data"])


def test_the_best_interquartile_mean_is_on_top():
    figure = drawn(study(labels=("a", "b")))["iqm"]
    assert figure["layout"]["yaxis"]["ticktext"] == ["a", "b"]
    assert [trace["x"] for trace in figure["data"]] == [[0.5], [15.5]]


def test_the_heat_map_has_no_diagonal():
    figure = drawn(study(labels=("a", "b")))["improvement"]
    (trace,) = figure["data"]
    assert trace["z"] == [[None, 0.0], [1.0, None]]
    assert trace["customdata"][1][0] == "P(b > a)<br>= 1.00 [1.00, 1.00], 2 tasks"
    (single,) = drawn(study(seeds=1, labels=("a", "b")))["improvement"]["data"]
    assert single["customdata"][1][0] == "P(b > a)<br>= 1.00, 2 tasks"


def test_styles_do_not_repeat_before_they_must():
    styles = charts.style([str(each) for each in range(24)])
    assert len(set(styles.values())) == 24


def test_long_names_are_cut():
    assert charts.short("x" * 30) == "x" * 25 + "…"
    assert charts.short("x" * 26) == "x" * 26
    assert charts.short("abcdef", 4) == "abc…"
