import csv
import io
from dataclasses import replace

import pytest

from countmorl.reports.groups import group
from countmorl.reports.scores import score_tables
from countmorl.reports.texts import (
    caption,
    number,
    plain,
    score_lines,
    to_csv,
    to_latex,
    to_markdown,
)
from countmorl.runs.options import RunOptions
from made_runs import HOSTILE, make_facts


def facts(score, label, seed=0, **changes):
    run = make_facts(score, options=RunOptions(label=label, seed=seed))
    return replace(run, summary=replace(run.summary, **changes))


@pytest.fixture
def study():
    return group([facts(10.0, "a"), facts(14.0, "a", 1), facts(3.0, "b"), facts(3.0, "b", 1)])


def tables(study):
    return score_tables(study, 5)[:1]


def test_what_the_log_has_stands_beside_the_methods():
    (table,) = tables(group([facts(10.0, "a", log=12.5), facts(14.0, "a", 1, log=12.5)]))
    assert score_lines(table)[0] == ["data", "the log", "a"]
    assert score_lines(table)[1][1] == "12.5"
    head, line, row = to_markdown([table]).splitlines()[2:5]
    assert head.count("|") == line.count("|") == row.count("|") == 4
    assert "{lrr}" in to_latex([table])


def test_numbers():
    assert (number(3.14159), number(1234.56, "return"), number(0.0012345, "value")) == (
        "3.1",
        "1234.6",
        "0.001234",
    )
    assert plain(None, "score") == "-"


def test_csv_is_one_line_per_cell(study):
    head, first, second = csv.reader(io.StringIO(to_csv(tables(study), study)))
    assert head == "measure protocol data hash method mean spread seeds unfinished".split()
    told = ["score", "last", "toy", "abcdefghijkl", "a", "12.0", repr(8**0.5), "2", "0"]
    assert (first, second[4:]) == (told, ["b", "3.0", "0.0", "2", "0"])


def test_latex(study):
    text = to_latex(tables(study))
    assert r"toy & $\mathbf{12.0 \pm 2.8}$ & $3.0 \pm 0.0$ \\" in text
    assert r"\begin{tabular}{lrr}" in text
    for word in ("toprule", "midrule", "bottomrule", "caption", "end{table}"):
        assert text.count(f"\\{word}") == 1
    assert r"within 2 \% of the best" in text


def test_markdown(study):
    lines = to_markdown(tables(study)).splitlines()
    assert lines[0].startswith("Normalised score, last five evaluations: mean and standard")
    assert lines[2:] == [
        "| data | a | b |",
        "|---|---:|---:|",
        "| toy | **12.0 ± 2.8** | 3.0 ± 0.0 |",
    ]


def test_a_terminal_has_stars(study):
    assert score_lines(tables(study)[0]) == [
        ["data", "a", "b"],
        ["toy", "12.0 ± 2.8*", "3.0 ± 0.0"],
    ]


def test_seeds_and_unfinished_runs_are_told():
    some = [facts(10.0, "a"), facts(14.0, "a", 1), facts(3.0, "b", finished=False)]
    (table,) = tables(group(some))
    assert score_lines(table)[1] == ["toy", "12.0 ± 2.8 (2)*", "3.0 (1)†"]
    assert "over seeds (their number in brackets)" in caption(table)
    assert caption(table).endswith("†: with unfinished runs.")
    assert r"$3.0$ (1)\textsuperscript{\textdagger}" in to_latex([table])
    assert "over 1 seed, which has no deviation" in caption(*tables(group(some[:1])))


class TestHostileNames:
    def made(self):
        study = group([facts(1.0, HOSTILE), facts(2.0, "=1+1"), facts(3.0, r"a\b~^#{}*`[c](d)")])
        return study, tables(study)

    def test_latex(self):
        text = to_latex(self.made()[1])
        wanted = r"\textless{}script\textgreater{}alert(1)\textless{}/script\textgreater{} "
        assert wanted + r"\& \$x\_1\$ \textbar{} \%" in text
        assert r"a\textbackslash{}b\textasciitilde{}\textasciicircum{}\#\{\}" in text

    def test_markdown(self):
        text = to_markdown(self.made()[1])
        assert r"&lt;script&gt;alert(1)&lt;/script&gt; &amp; \$x\_1\$ \| %" in text
        assert r"\*\`\[c\](d)" in text

    def test_csv_is_no_formula(self):
        study, made = self.made()
        names = [row[4] for row in csv.reader(io.StringIO(to_csv(made, study)))]
        assert set(names) == {"method", HOSTILE, "'=1+1", r"a\b~^#{}*`[c](d)"}
