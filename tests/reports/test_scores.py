from dataclasses import replace

import pytest

from countmorl.reports.groups import group
from countmorl.reports.protocols import PROTOCOLS, Protocol
from countmorl.reports.scores import score_tables
from countmorl.reports.texts import caption, score_lines
from countmorl.runs.choice import Chosen
from countmorl.runs.manifest import DataOrigin
from made_runs import make_facts


def facts(score, method="bc", seed=0, data="toy", **changes):
    run = make_facts(score, score, algorithm=method, seed=seed, data=DataOrigin(name=data, hash=""))
    return replace(run, summary=replace(run.summary, **changes))


def test_means_and_spreads_are_over_seeds():
    last, best = score_tables(group([facts(1.0), facts(2.0, seed=1), facts(6.0, seed=2)]), 5)
    cell = last.cells["bc", "toy"]
    # Mean (1 + 2 + 6) / 3 = 3; squares 4 + 1 + 9 = 14, divided by n - 1: root of 7.
    assert (cell.mean, cell.spread, cell.seeds) == (3, pytest.approx(7**0.5), (0, 1, 2))
    assert (last.title, best.title) == ("last five evaluations", "best evaluation (peeking)")
    assert (last.peeks, best.peeks, last.seeds) == (False, True, 3)


def test_one_seed_has_no_spread():
    (cell,) = score_tables(group([facts(1.0)]), 5)[0].cells.values()
    assert (cell.spread, cell.bold) == (None, False)


@pytest.mark.parametrize(
    ("scores", "bold"),
    [((100.0, 98.0, 97.9), (True, True, False)), ((-100.0, -102.0, -103.0), (True, True, False))],
)
def test_bold_is_within_two_per_cent_of_the_best(scores, bold):
    runs = [facts(score, method) for score, method in zip(scores, "abc", strict=True)]
    table = score_tables(group(runs), 5)[0]
    assert tuple(table.cells[method, "toy"].bold for method in "abc") == bold


def test_measures_are_never_in_one_table():
    runs = [facts(1.0), facts(300.0, seed=1, measure="return"), facts(3.0, "cql", measure="value")]
    tables = {(t.measure, t.protocol): t for t in score_tables(group(runs), 5)}
    assert [key[0] for key in tables] == ["score"] * 2 + ["return"] * 2 + ["value"] * 2
    assert tables["score", "last"].cells["bc", "toy"].values == (1,)
    assert tables["return", "last"].cells["bc", "toy"].values == (300,)
    assert tables["value", "last"].methods == ("cql",)


def test_what_was_not_run_is_missing_and_what_is_not_done_is_counted():
    runs = [facts(1.0), facts(2.0, "cql", data="other"), facts(2.0, seed=1, finished=False)]
    table = score_tables(group(runs), 5)[0]
    assert set(table.cells) == {("bc", "toy"), ("cql", "other")}
    assert (table.cells["bc", "toy"].unfinished, table.seeds) == (1, None)


def test_a_protocol_that_nobody_has_a_number_for_is_not_shown(monkeypatch):
    added = Protocol(title="chosen offline", about="A sentence.", value=lambda run: None)
    monkeypatch.setitem(PROTOCOLS, "chosen", added)
    assert len(score_tables(group([facts(1.0)]), 5)) == 2
    some = replace(added, value=lambda run: 7.0 if run.seed else None)
    monkeypatch.setitem(PROTOCOLS, "chosen", some)
    *_, table = score_tables(group([facts(1.0), facts(1.0, seed=1)]), 5)
    assert (table.title, table.cells["bc", "toy"].values) == ("chosen offline", (7,))


def test_no_run_was_judged():
    run = make_facts()
    assert score_tables(group([run]), 5) == []


def test_what_was_chosen_offline_is_one_column_over_all_methods():
    """Of seed 0 the first method's was taken; of seed 1 none was, and the log has 40."""
    kept = Chosen(policies=4, taken=False, kept_log=True, log_score=40.0)
    runs = [
        replace(facts(50.0, "bc"), choice=Chosen(policies=4, taken=True)),
        replace(facts(90.0, "cql"), choice=Chosen(policies=4, taken=False)),
        *(replace(facts(90.0, method, seed=1), choice=kept) for method in ("bc", "cql")),
    ]
    table = score_tables(group(runs), 5)[-1]
    assert (table.protocol, table.methods, table.peeks) == ("offline", ("chosen offline",), False)
    cell = table.cells["chosen offline", "toy"]
    assert (cell.values, cell.seeds, cell.kept_log) == ((50.0, 40.0), (0, 1), 1)
    assert score_lines(table)[1] == ["toy", "45.0 ± 7.1‡"]
    assert "‡: nothing was shown to be better" in caption(table)
