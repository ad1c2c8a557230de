import json

from countmorl.algorithms import ALGORITHMS


def test_all_are_listed_with_idea_and_paper(run_cli):
    code, out, _ = run_cli("algorithms")
    assert code == 0
    for name, algorithm in ALGORITHMS.items():
        line = next(line for line in out.splitlines() if line.split()[0] == name)
        assert algorithm.paper in line
    code, out, _ = run_cli("algorithms", "--json")
    rows = json.loads(out)
    assert [row["name"] for row in rows] == list(ALGORITHMS)
    assert all(row["lines"] < 80 for row in rows)
    facts = {row["name"]: (row["model"], row["discrete"]) for row in rows}
    assert facts["td3-bc"] == (False, False)
    assert facts["mopo"] == (True, True)
