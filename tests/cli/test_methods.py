import json

from countmorl.algorithms import ALGORITHMS


def test_all_are_listed_with_idea_and_paper(run_cli):
    code, out, err = run_cli("methods")
    assert (code, err) == (0, "")
    for name, algorithm in ALGORITHMS.items():
        line = next(line for line in out.splitlines() if line.split()[0] == name)
        assert algorithm.paper in line
    assert "countmorl train NAME --help explains its settings." in out


def test_json(run_cli):
    rows = json.loads(run_cli("methods", "--json")[1])
    assert [row["name"] for row in rows] == list(ALGORITHMS)
    assert set(rows[0]) == {"name", "idea", "paper", "model", "discrete", "presets"}
    facts = {row["name"]: (row["model"], row["discrete"]) for row in rows}
    assert facts["td3-bc"] == (False, False)
    assert facts["mopo"] == (True, True)
    presets = {row["name"]: row["presets"] for row in rows}
    assert "quick (minutes)" in presets["count-morl"]
    assert presets["repb-sde"] is None
