import pytest

from countmorl.reports.aggregates import FEW, aggregate
from countmorl.reports.groups import group
from countmorl.reports.scores import score_tables
from countmorl.runs.manifest import DataOrigin
from made_runs import make_facts


def table(cells):
    """A table of scores by method, data and seeds."""
    runs = [
        make_facts(score, algorithm=method, seed=seed, data=DataOrigin(name=data, hash=""))
        for (method, data), scores in cells.items()
        for seed, score in enumerate(scores)
    ]
    return score_tables(group(runs), 5)[0]


TWO = {("a", "x"): (1.0, 3.0), ("a", "y"): (10.0, 30.0), ("b", "x"): (2.0, 3.0)}


def test_all_methods_over_all_tasks():
    found = aggregate(table({**TWO, ("b", "y"): (1.0, 2.0)}))
    assert (found.tasks, found.notes) == (("x", "y"), (FEW,))
    a, b = found.overall
    assert (a.method, a.runs, a.mean.value, a.median.value) == ("a", 4, 11, 11)
    assert a.iqm.value == (3 + 10) / 2  # 1 3 10 30 without the first and the last.
    assert (a.profile.taus[0], a.profile.taus[-1], len(a.profile.taus)) == (0, 30, 101)
    assert (a.profile.shares[0], b.profile.shares[-1]) == (1, 0)


def test_chances_mirror_each_other():
    found = aggregate(table({**TWO, ("b", "y"): (1.0, 2.0)}))
    there, back = found.improvements
    # x: 1.5 of 4 pairs, y: all of them.
    assert (there.better, there.worse, there.chance.value) == ("a", "b", (0.375 + 1) / 2)
    assert back.chance.value == 1 - there.chance.value
    assert there.chance.high is not None
    assert back.chance.low == pytest.approx(1 - there.chance.high)


def test_only_common_tasks_count_and_it_is_said():
    found = aggregate(table(TWO))
    assert (found.tasks, found.overall[0].mean.value) == (("x",), 2)
    note, _ = found.notes
    assert "over the 1 that all have; left out: y." in note


def test_pairs_are_compared_on_what_both_have():
    found = aggregate(table({**TWO, ("c", "y"): (20.0,)}))
    assert (found.tasks, found.overall) == ((), ())
    assert "No dataset was run by all methods" in found.notes[0]
    chances = {(e.better, e.worse): (e.chance.value, e.tasks) for e in found.improvements}
    assert chances == {
        ("a", "b"): (0.375, 1),
        ("b", "a"): (0.625, 1),
        ("a", "c"): (0.5, 1),
        ("c", "a"): (0.5, 1),
    }


def test_a_single_seed_has_no_interval_and_it_is_said():
    found = aggregate(table({("a", "x"): (1.0,), ("b", "x"): (2.0, 3.0)}))
    a, b = found.overall
    assert (a.iqm.low, found.improvements[0].chance.low) == (None, None)
    assert found.improvements[1].chance.value == 1
    assert b.iqm.low is not None
    assert "have no interval" in found.notes[0]
    assert found.notes[1:] == (FEW,)


def test_five_seeds_need_no_warning():
    five = (1.0, 2.0, 3.0, 4.0, 5.0)
    assert aggregate(table({("a", "x"): five, ("b", "x"): five})).notes == ()
