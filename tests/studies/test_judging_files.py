"""Tables as files."""

import csv

from countmorl.studies.judging_files import as_json, markdown, tables, write
from judged import field, tried


def test_what_the_rules_were_chosen_on_stands_apart(tmp_path):
    good = tried("a", 20, fitted=(18, 16, 22), model=(15, 12, 18))
    bad = tried("b", 5, fitted=(18, 16, 22), model=(15, 12, 18))
    fields = [field(good, name="one", development=True), field(bad, name="two")]
    found = tables(fields)
    assert list(found)[2:] == [
        "development: the rules were chosen on these (1 logs)",
        "held out (1 logs)",
    ]
    wrong = {name: {m.way: m.wrong for m in some}["verdict"] for name, some in found.items()}
    assert list(wrong.values()) == [0, 1, 0, 1]
    assert "| verdict | 1 of 1 | - | 50.0 | 100% | 50.0 | 0 of 1 | 1 | 1 |" in markdown(fields)
    assert [each["policy"] for each in as_json(fields)["policies"]] == ["a", "b"]
    for path in write(fields, tmp_path):
        assert path.exists()
    with (tmp_path / "policies.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["truth"], row["fitted Q"], row["verdict"]) for row in rows] == [
        ("20.0", "18.0", "better"),
        ("5.0", "18.0", "better"),
    ]
