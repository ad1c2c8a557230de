import csv
import json
import sys

import pytest

from countmorl.runs.options import RunOptions
from made_runs import HOSTILE, finish, make_run, make_study


@pytest.fixture
def study(tmp_path):
    """A sweep's folder: runs beside each other, and files that are none."""
    folder = make_study(tmp_path / "sweep")
    (folder / "sweep.json").write_text("{}")
    (folder / "logs").mkdir()
    return folder


def test_without_a_file_the_table_is_printed(run_cli, study):
    code, out, err = run_cli("report", "sweep")
    assert (code, err) == (0, "")
    title, head, first, second, *rest = out.splitlines()
    assert title.startswith("Normalised score, last five evaluations: mean and standard deviation")
    assert head.split() == ["data", "bc", "count-morl", "mopo"]
    assert first.split()[:4] == ["hopper-medium-v2", "3.5", "±", "0.7"]
    assert "28.5 ± 0.7*" in second
    assert rest == []


def test_every_form_at_once(run_cli, study, tmp_path):
    files = ("--csv", "t.csv", "--latex", "t.tex", "--markdown", "t.md", "--figures", "figures")
    code, out, err = run_cli("report", "sweep", "-o", "page.html", *files)
    assert (code, err) == (0, "")
    written = [line.removeprefix("Written: ") for line in out.splitlines()]
    assert written[:4] == ["page.html", "t.csv", "t.tex", "t.md"]
    assert len(written) == 4 + 8
    assert all((tmp_path / path).stat().st_size > 100 for path in written)
    with open("t.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["protocol"] for row in rows} == {"last"}
    assert len(rows) == 6


def test_another_protocol(run_cli, study):
    assert run_cli("report", "sweep", "--csv", "t.csv", "--protocol", "best")[0] == 0
    with open("t.csv") as file:
        (row, *_) = csv.DictReader(file)
    # Seeds 0 and 1 end at 5 and 6.
    assert (row["protocol"], row["method"], row["mean"]) == ("best", "bc", "5.5")


def test_fewer_last_evaluations(run_cli, study):
    _, out, _ = run_cli("report", "sweep", "--last", 1)
    assert out.startswith("Normalised score, last evaluation:")
    assert "5.5 ± 0.7" in out


def test_json(run_cli, study):
    code, out, err = run_cli("report", "sweep", "--json", "--markdown", "t.md")
    values = json.loads(out)
    assert (code, err, values["written"]) == (0, "", ["t.md"])
    assert [table["protocol"] for table in values["tables"]] == ["last", "best"]
    assert values["aggregates"]["improvements"][0]["chance"]["value"] == 0
    assert values["paper"]["pairs"][0]["main"] == {"mean": 29.0, "spread": None}


def test_a_run_that_is_named_twice_counts_once(run_cli, tmp_path):
    make_run(tmp_path / "run")
    _, out, _ = run_cli("report", "run", "run", ".", "--json")
    (cell,) = json.loads(out)["tables"][0]["cells"]
    assert cell["seeds"] == [0]


def test_a_damaged_run_among_good_ones_is_named(run_cli, tmp_path):
    finish(make_run(tmp_path / "good"))
    make_run(tmp_path / "bad").append("metrics.jsonl", {"stage": "policy", "epoch": "one"})
    code, out, err = run_cli("report", ".", "-o", "page.html")
    assert (code, out, err.count("\n")) == (0, "Written: page.html\n", 1)
    assert err.startswith("countmorl: bad is left out: bad/metrics.jsonl, line 4 does not say")
    assert "bad is left out" in (tmp_path / "page.html").read_text()


def test_names_cannot_act_on_a_terminal(run_cli, tmp_path):
    for name in (HOSTILE, "[red]x[/red]", "[/]"):
        make_run(tmp_path / str(len(name)), options=RunOptions(label=name))
    code, out, _ = run_cli("report", ".")
    assert code == 0
    assert all(name in out for name in (HOSTILE, "[red]x[/red]", "[/]"))


def test_models_alone_have_no_table(run_cli, tmp_path):
    make_run(tmp_path / "model", algorithm="model", scores=())
    code, out, _ = run_cli("report", "model")
    assert (code, out) == (0, "No run was evaluated, so there is no table of scores.\n")
    assert run_cli("report", "model", "-o", "page.html")[0] == 0


def test_runs_of_the_real_thing(run_cli, trained, tabular):
    code, out, err = run_cli("report", trained / "run", tabular / "run", "-o", "page.html")
    assert (code, out, err) == (0, "Written: page.html\n", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "No folder is given; wanted run folders, or folders that hold some"),
        (("nowhere",), "nowhere is not there; wanted a run folder, or a folder of runs"),
        (("file.txt",), "file.txt is a file; wanted a run folder"),
        (("empty",), "There is no run in empty, nor up to 2 levels below"),
        (("empty", "other"), "There is no run in empty, other"),
        (("damaged",), "The only run cannot be read: damaged was written in format 1"),
        (("one", "--last", 0), "`--last` must be at least 1, got 0"),
        (("one", "--protocol", "lats"), "no protocol 'lats'. Did you mean 'last'? Known: last"),
        (("one", "-o", "page.pdf"), "page.pdf has the ending '.pdf'; wanted .html, .htm"),
        (("one", "-o", "folder.html"), "`--out` is a folder: folder.html; wanted the name of a"),
        (("one", "--csv", "t.txt"), "wanted .csv"),
        (("one", "--latex", "t.csv"), "wanted .tex"),
        (("one", "--markdown", "t.csv"), "wanted .md"),
        (("one", "--figures", "file.txt"), "`--figures` is a file: file.txt; wanted the name of a"),
        (("one", "-o", "file.txt/page.html"), "file.txt is not a folder"),
        (("unjudged", "--figures", "f"), "None of these runs was evaluated, so there is no figure"),
    ],
)
def test_bad_input_is_a_sentence(run_cli, tmp_path, words, sentence):
    make_run(tmp_path / "one")
    make_run(tmp_path / "unjudged", scores=())
    (tmp_path / "file.txt").write_text("")
    for name in ("empty", "other/logs", "damaged", "folder.html"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "damaged" / "config.json").write_text('{"format": 1, "versions": {}}')
    code, out, err = run_cli("report", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_a_missing_package_leaves_nothing_half_done(run_cli, tmp_path, monkeypatch):
    make_run(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, _, err = run_cli("report", "run", "-o", "page.html", "--csv", "t.csv")
    assert (code, 'pip install "countmorl[report]"' in err) == (2, True)
    assert not (tmp_path / "t.csv").exists()
    assert run_cli("report", "run", "--csv", "t.csv")[0] == 0
