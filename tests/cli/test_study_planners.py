import json

import pytest

SHORT = ("study", "planners", "--sizes", 300, "--seeds", 2, "--worlds", "cliff")


@pytest.mark.slow
def test_a_table_and_a_figure(run_cli, tmp_path):
    code, out, err = run_cli(*SHORT, "--out", "s.png")
    assert (code, err) == (0, "cliff ...\n")
    assert "cliff: the true discounted optimum has 0.84   8%" in out
    assert "Mean return over seeds, and the share of episodes that end in lava." in out
    assert (tmp_path / "s.png").exists()


def test_json(run_cli):
    rows = json.loads(run_cli(*SHORT, "--json")[1])
    assert {row["method"] for row in rows} >= {"plain", "penalty", "optimum"}
    assert {row["world"] for row in rows} == {"cliff"}
    assert rows[0]["seeds"] == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--worlds clif", "Did you mean 'cliff'?"),
        ("--worlds", "`worlds` must name at least one grid world."),
        ("--sizes 0", "numbers of rows, at least 1"),
        ("--out x.doc", "wanted .png"),
    ],
)
def test_bad_input_is_a_sentence(run_cli, words, sentence):
    code, _, err = run_cli("study", "planners", *words.split())
    assert (code, err.count("\n")) == (2, 1)
    assert sentence in err
