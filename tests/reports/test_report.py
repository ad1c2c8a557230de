import json
from dataclasses import replace

import pytest

from countmorl.errors import ConfigError
from countmorl.reports.groups import group
from countmorl.reports.report import make_report
from made_runs import make_run, make_study


def test_a_study_from_its_folder(tmp_path):
    report = make_report([make_study(tmp_path / "sweep")])
    assert report.study.methods == ("bc", "count-morl", "mopo")
    assert [table.protocol for table in report.tables] == ["last", "best"]
    assert [table.protocol for table in report.chosen] == ["last"]
    # Scores are 20 + 5 + 0 and 1 and steps 0 to 5; of the last five the mean is 3 above.
    cell = report.chosen[0].cells["count-morl", "toy"]
    assert cell.values == (20 + 5 + 3, 20 + 5 + 1 + 3)
    assert report.aggregates is not None
    assert report.aggregates.tasks == ("hopper-medium-v2", "toy")
    assert report.aggregates is report.aggregates
    assert {pair.method for pair in report.beside.pairs} == {"bc", "mopo", "count-morl"}
    assert report.notes == []


def test_the_chosen_protocol_decides(tmp_path):
    report = make_report([make_study(tmp_path)], protocol="best")
    assert report.chosen[0].cells["bc", "toy"].values == (10, 11)
    assert report.aggregates is not None
    assert report.aggregates.title == "best evaluation (peeking)"
    assert report.beside.pairs  # The paper's numbers stay beside the protocol that is theirs.


def test_notes_tell_what_to_know(tmp_path):
    make_run(tmp_path / "short", algorithm="bc")
    make_run(tmp_path / "never", scores=(), algorithm="cql")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "config.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    report = make_report([tmp_path, tmp_path / "empty"])
    damaged, empty = report.warnings
    assert damaged.startswith(f"{tmp_path / 'bad'} is left out: ")
    assert empty == f"There is no run in {tmp_path / 'empty'}."
    assert report.notes[2:] == [
        "Not finished, and marked † where they count: short (3 epochs), never (0 epochs).",
        "1 run was never evaluated, so no table has a number of it.",
        "1 run was evaluated fewer than 5 times; the mean is over what there is.",
        "One seed only for every method: no spread and no interval, so luck cannot be told apart.",
    ]


def test_many_unfinished_runs_are_not_all_named(tmp_path):
    for seed in range(10):
        make_run(tmp_path / str(seed), seed=seed)
    assert "7 (3 epochs) and 2 more." in make_report([tmp_path]).notes[0]


def test_models_alone(tmp_path):
    make_run(tmp_path / "model", algorithm="model", scores=())
    report = make_report([tmp_path])
    assert (report.tables, report.aggregates, report.study.methods) == ((), None, ())


def test_as_json(tmp_path):
    values = make_report([make_study(tmp_path)]).as_dict()
    text = json.dumps(values, allow_nan=False)
    assert json.loads(text)["tables"][0]["cells"][0]["method"] == "bc"
    assert values["aggregates"]["overall"][0]["iqm"]["value"]
    assert values["notes"] == []


def test_bad_settings(tmp_path):
    with pytest.raises(ConfigError, match="`last` must be at least 1, got 0"):
        make_report([tmp_path], last=0)
    with pytest.raises(ConfigError, match="There is no protocol 'worst'"):
        make_report([tmp_path], protocol="worst")


def test_the_same_runs_in_another_order_are_the_same_report(tmp_path):
    folder = make_study(tmp_path)
    report = make_report([folder])
    turned = make_report(sorted(folder.iterdir(), reverse=True))
    assert replace(turned, places=report.places) == report
    assert group(report.found.methods[::-1]) == report.study
