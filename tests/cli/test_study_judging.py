"""`countmorl study judging`."""

import json

from countmorl.studies.judging import StudyConfig
from judged import field, tried


def test_tables_files_and_options(run_cli, trained, tmp_path, monkeypatch):
    asked = {}

    def study(runs, config, out, **options):
        asked.update(options, config=config, runs=runs)
        return [field(tried("a", 20, fitted=(18, 16, 22), model=(15, 12, 18)))]

    monkeypatch.setattr("countmorl.studies.judging.study", study)
    out = tmp_path / "found"
    words = ["study", "judging", trained / "run", "--kept", "--out", out, "--episodes", "3"]
    code, text, _ = run_cli(*words, "--development", "log")
    assert code == 0
    assert (asked["kept_too"], asked["development"]) == (True, ("log",))
    assert asked["config"] == StudyConfig(episodes=3)
    assert [each.path.name for each in asked["runs"]] == ["run"]
    assert "held out (1 logs)" in text
    assert sorted(path.name for path in out.iterdir()) == [
        "estimates.png",
        "policies.csv",
        "tables.md",
    ]
    _, text, _ = run_cli(*words, "--json")
    assert json.loads(text)["policies"][0]["policy"] == "a"
