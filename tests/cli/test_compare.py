import json

import pytest

from countmorl.cli import compare as command
from made_runs import make_run


@pytest.fixture
def runs(tmp_path):
    return make_run(tmp_path / "one"), make_run(tmp_path / "two", beta=3.0)


def test_a_table_and_what_differs(run_cli, runs, tmp_path):
    code, out, err = run_cli("compare", "one", "two", "--figure", "curves.png")
    assert (code, err) == (0, "")
    head, first, second, *_ = out.splitlines()
    columns = ["run", "epochs", "score,", "last", "5", "log", "q", "penalty", "rows/code", "count"]
    assert head.split() == [*columns, "updates/s"]
    assert first.split() == [
        "one",
        "3",
        "3.0",
        "±",
        "2.2",
        "-",
        "30.0",
        "0.200",
        "4.5",
        "7.5",
        "200",
    ]
    assert second.split()[0] == "two"
    assert "two: count-morl on toy; beta 3.0, sac.actor_rate 0.3" in out
    assert "Figure: curves.png" in out
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_json(run_cli, runs):
    _, out, _ = run_cli("compare", "one", "two", "--json", "--last", 1)
    rows = json.loads(out)["runs"]
    assert [row["mean"] for row in rows] == [6.0, 6.0]
    assert rows[1]["settings"] == {"beta": 3.0, "sac.actor_rate": 0.3}
    assert rows[0]["values"] == [1, 2, 6]
    assert json.loads(out)["figure"] is None


def test_one_evaluation_has_no_spread(run_cli, tmp_path):
    make_run(tmp_path / "run", scores=(6.0,))
    code, out, _ = run_cli("compare", "run")
    assert code == 0
    assert " 6.0 " in out
    assert "±" not in out
    assert "no setting differs" in out


def test_a_tabular_run_stands_beside_others(run_cli, runs, tabular):
    code, out, err = run_cli("compare", tabular / "run", "one")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == ["run", "0", *"-------"]
    assert "run: tabular on cliff; " in out


def test_settings_of_tabular_runs_are_compared(run_cli, tabular):
    words = ("train", "tabular", tabular / "cliff.hdf5", "--out", "weaker", "--beta", 0.01)
    assert run_cli(*words)[0] == 0
    _, out, _ = run_cli("compare", tabular / "run", "weaker", "--json")
    settings = [row["settings"] for row in json.loads(out)["runs"]]
    assert settings == [{"plan.beta": 0.1}, {"plan.beta": 0.01}]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("compare",), "`compare` wants one or more run folders"),
        (("compare", "one", "--last", 0), "`--last` at least 1"),
        (("compare", "nowhere"), "There is no run folder nowhere"),
        (("compare", "one", "--figure", "curves.pdf"), "has the ending '.pdf'; wanted .png"),
        (("compare", "one", "--figure", "."), "wanted .png"),
        (("compare", "one", "--figure", "folder.png"), "folder.png is a folder"),
        (("compare", "one", "broken"), "was written in format 1, this version reads format 2"),
        (("compare", "one", "returns"), "These runs were judged by return and score, which cannot"),
        (("compare", "damaged"), "metrics.jsonl, line 4: `q` is 'high', wanted numbers"),
    ],
)
def test_bad_input_is_a_sentence(run_cli, runs, tmp_path, words, sentence):
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text('{"format": 1, "versions": {}}')
    made_up = {"stage": "policy", "epoch": 4, "return": 1.0}
    make_run(tmp_path / "returns", scores=()).append("metrics.jsonl", made_up)
    make_run(tmp_path / "damaged").append("metrics.jsonl", made_up | {"q": "high"})
    code, _, err = run_cli(*words)
    assert (code, err.count("\n")) == (2, 1)
    assert sentence in err


def test_runs_are_told_apart_by_their_paths(run_cli, tmp_path):
    make_run(tmp_path / "a" / "run")
    make_run(tmp_path / "b" / "run", seed=1)
    _, out, _ = run_cli("compare", "a/run", "b/run")
    assert "b/run: count-morl on toy; seed 1" in out
    assert command._said(None) == "-"
