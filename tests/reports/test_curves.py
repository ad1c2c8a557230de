from dataclasses import replace

import pytest

from countmorl.reports.curves import panels
from countmorl.reports.groups import group
from made_runs import make_facts


def test_means_and_spreads_over_seeds():
    (panel,) = panels(group([make_facts(1.0, 2.0), make_facts(3.0, 6.0, seed=1)]))
    (curve,) = panel.curves
    assert (panel.data, panel.measure, curve.method) == ("toy", "score", "count-morl")
    assert (curve.epochs, curve.mean, curve.seeds) == ((1, 2), (2, 4), (2, 2))
    # Deviations of -1 and 1: the root of 2 / (2 - 1); then of -2 and 2.
    assert curve.spread == (pytest.approx(2**0.5), pytest.approx(8**0.5))


def test_one_seed_has_no_band():
    (panel,) = panels(group([make_facts(1.0, 2.0)]))
    assert panel.curves[0].spread is None


def test_a_run_that_is_not_done_ends_earlier():
    late = make_facts(5.0, seed=1)
    late = replace(late, summary=replace(late.summary, finished=False))
    (panel,) = panels(group([make_facts(1.0, 2.0), late]))
    (curve,) = panel.curves
    assert (curve.mean, curve.seeds, curve.unfinished) == ((3, 2), (2, 1), True)
    assert curve.spread is not None
    assert curve.spread[1] == 0


def test_measures_have_panels_of_their_own():
    other = make_facts(5.0, algorithm="bc")
    other = replace(other, summary=replace(other.summary, measure="return"))
    found = panels(group([make_facts(1.0), other, make_facts(algorithm="cql")]))
    assert [(each.measure, len(each.curves)) for each in found] == [("score", 1), ("return", 1)]
