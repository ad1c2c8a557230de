"""Marks by hand: three policies of one log that earned 10."""

from dataclasses import replace

import pytest

from countmorl.studies.judging_tables import marks, summed
from countmorl.studies.truth import Truth
from judged import field, tried

TRUTHS = Truth(value=12.0, error=0.0), Truth(value=12.0, error=0.6)


def mark(found, way):
    (one,) = [each for each in marks(found) if each.way == way]
    return one


@pytest.fixture
def pool():
    """Truths 20, 12, 5; fitted Q has the order right, the model believes in the worst."""
    return field(
        tried("a", 20, fitted=(18, 16, 22), model=(15, 12, 18), q=1.0, last=True),
        tried("b", 12, fitted=(13, 13, 14), model=None, q=2.0, last=True),
        tried("c", 5, fitted=(4, 2, 6), model=(30, 20, 40)),
    )


def test_an_estimator_that_is_right(pool):
    found = mark(pool, "fitted Q")
    assert (found.judged, found.policies, found.rank) == (3, 3, 1)
    assert (found.covered, found.intervals) == (2, 3)
    assert (found.better, found.wrong) == (2, 0)
    assert (found.regret, found.worse) == (0, 0)


def test_an_estimator_that_believes_in_the_worst(pool):
    """Points: chance (0) has 0 and the best (20) 100, so the third has 25."""
    found = mark(pool, "model")
    assert (found.judged, found.rank) == (2, None)
    assert (found.regret, found.worse) == (75, 1)
    assert (found.better, found.wrong) == (2, 1)


def test_the_verdict_wants_both(pool):
    """Only of the first do both say better; it is taken though it was one of three."""
    found = mark(pool, "verdict")
    assert (found.better, found.wrong, found.judged) == (1, 0, 3)
    assert (found.regret, found.worse) == (0, 0)
    assert (found.covered, found.intervals) == (2, 3)


def test_habits(pool):
    assert mark(pool, "last policy").regret == (0 + 40) / 2
    assert mark(pool, "highest Q").regret == 40
    assert mark(pool, "random choice").regret == pytest.approx((0 + 40 + 75) / 3)
    assert mark(pool, "random choice").worse == pytest.approx(1 / 3)
    assert mark(pool, "the log").regret == 50


def test_who_abstains_keeps_the_log():
    """Nothing is better, and the best there is is the log: no regret."""
    found = mark(field(tried("a", 5, fitted=(4, 2, 6), model=None)), "verdict")
    assert (found.regret, found.worse, found.better) == (0, 0, 0)


def test_sums_and_means(pool):
    other = field(tried("a", 5, fitted=(12, 11, 13), model=None, last=True))
    both = {each.way: each for each in summed([*marks(pool), *marks(other)], "both")}
    assert (both["fitted Q"].judged, both["fitted Q"].rank) == (4, 1)
    assert (both["fitted Q"].better, both["fitted Q"].wrong) == (3, 1)
    assert both["fitted Q"].regret == (0 + 50) / 2
    assert both["highest Q"].regret == 40 / 2


def test_what_is_not_known_of_the_truth_is_given_or_taken(pool):
    """An interval from 13 to 14, and a truth of 12 that may be 13."""
    sure, unsure = (
        mark(field(replace(pool.tried[1], truth=truth)), "fitted Q") for truth in TRUTHS
    )
    assert (sure.covered, unsure.covered) == (0, 1)


def test_where_nothing_is_taken_the_clone_that_is_worth_more_in_the_model_is_handed_out():
    """Chance has 0 points, the log 50 and the first clone 45; the second is taken for worse."""
    found = field(
        tried("a", 9, fitted=(9, 8, 11), model=(9, 8, 11), clone=True),
        tried("b", 5, fitted=(5, 2, 11), model=(5, 2, 11), clone=True),
        tried("c", 20, fitted=(18, 9, 22), model=(15, 9, 18)),
    )
    handed = mark(found, "handed out")
    assert (handed.regret, handed.worse, handed.short) == (55, 1, 5)
    assert mark(found, "verdict").short == 0


def test_what_is_taken_is_handed_out(pool):
    assert mark(pool, "handed out").regret == mark(pool, "verdict").regret == 0


def test_how_far_below_the_log_is_the_worst_of_several_logs(pool):
    other = field(tried("a", 4, fitted=(12, 11, 13), model=None, last=True))
    both = {each.way: each for each in summed([*marks(pool), *marks(other)], "both")}
    assert both["fitted Q"].short == 60  # Of the other: 40 points, where its log is the best.
    assert both["last policy"].short == 60
