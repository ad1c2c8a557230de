import json

import pytest

from countmorl.cli import study_theory
from countmorl.studies.checks import VARIANTS


@pytest.mark.slow
def test_a_table_and_a_figure(run_cli, tmp_path):
    code, out, _ = run_cli("study", "theory", "--instances", 12, "--out", "t.png")
    assert code == 0
    assert "Every corrected statement holds." in out
    assert "Altered and caught: no union, paper's, halved, no penalty." in out
    assert (tmp_path / "t.png").exists()


def test_json_and_the_exit_code_where_nothing_false_is_caught(run_cli, monkeypatch):
    """Were altered statements as true as the corrected ones, the study would show nothing."""
    true = study_theory.violation_study(2, variant=VARIANTS["corrected"])
    monkeypatch.setattr(study_theory, "violation_study", lambda *_, **__: true)
    code, out, _ = run_cli("study", "theory", "--instances", 2, "--json")
    result = json.loads(out)
    assert (code, result["sound"], result["caught"]["halved"]) == (1, True, False)
    assert set(result["findings"]) == set(VARIANTS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--delta 2", "probability of failure"),
        ("--seed -1", "at least 0"),
        ("--instances 0", "`instances` must be at least 1"),
        ("--out x.doc", "wanted .png"),
    ],
)
def test_bad_input_is_a_sentence(run_cli, words, sentence):
    code, _, err = run_cli("study", "theory", *words.split())
    assert code == 2
    assert sentence in err.splitlines()[-1]
    assert len(err.splitlines()) <= 2  # Which variant it is at is told before.
