import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from countmorl.reports.statistics import (
    Interval,
    has_interval,
    improvement,
    iqm,
    mean,
    median,
    profile,
)

SCORES = [[1.0, 3.0], [10.0, 30.0], [5.0, 100.0]]
seeds = st.lists(st.integers(-50, 150).map(float), min_size=2, max_size=4)
tasks = st.lists(seeds, min_size=1, max_size=3)


class TestByHand:
    def test_interquartile_mean(self):
        # All six in order: 1 3 5 10 30 100. A quarter of six is 1.5, so one is cut at either end:
        # (3 + 5 + 10 + 30) / 4 = 12.
        assert iqm(SCORES).value == 12
        # Eight: two are cut at either end, whatever they are.
        assert iqm([[-1000.0, 0.0, 1.0, 2.0], [3.0, 4.0, 5.0, 1000.0]]).value == (1 + 2 + 3 + 4) / 4

    def test_mean_of_tasks(self):
        # Task means are 2, 20 and 52.5: (2 + 20 + 52.5) / 3.
        assert mean(SCORES).value == pytest.approx(74.5 / 3)
        # A task counts once, however many seeds it has: (1 + 4) / 2, not (1 + 1 + 1 + 4) / 4.
        assert mean([[1.0, 1.0, 1.0], [4.0]]).value == 2.5

    def test_median_of_tasks(self):
        assert median(SCORES).value == 20
        assert median(SCORES[:2]).value == (2 + 20) / 2

    def test_profile(self):
        # Of 1 3 10 30 all are above 0, two above 3 (not 3 itself), one above 10, none above 30.
        found = profile(SCORES[:2], [0.0, 3.0, 10.0, 30.0])
        assert found.shares == (1, 0.5, 0.25, 0)

    def test_improvement(self):
        # Task 1: of the pairs (1, 2) (1, 3) (3, 2) (3, 3) X wins one and ties one: 1.5 of 4.
        # Task 2: 5 beats 1 and 2: all of 2. Mean of 0.375 and 1.
        found = improvement([[1.0, 3.0], [5.0]], [[2.0, 3.0], [1.0, 2.0]])
        assert found == Interval(value=(0.375 + 1) / 2)


class TestIntervals:
    def test_of_two_seeds_by_hand(self):
        # A task with seeds 0 and 10 has resampled means 0, 5, 5, 10, a quarter each: the 2.5th and
        # the 97.5th of a hundred are 0 and 10.
        assert mean([[0.0, 10.0]]) == Interval(value=5, low=0, high=10)

    def test_are_stratified(self):
        # Seeds agree within tasks, tasks do not: drawing seeds again changes nothing.
        scores = [[1.0, 1.0], [100.0, 100.0], [7.0, 7.0]]
        for statistic in (iqm, mean, median):
            found = statistic(scores)
            assert (found.low, found.high) == (found.value, found.value)

    def test_are_the_same_every_time(self):
        assert iqm(SCORES) == iqm(SCORES)
        assert improvement(SCORES, SCORES[::-1]) == improvement(SCORES, SCORES[::-1])

    def test_one_seed_has_none(self):
        assert iqm([[1.0], [2.0, 3.0]]).low is None
        assert profile([[1.0]], [0.0, 2.0]).low is None
        assert not has_interval([])
        assert has_interval(SCORES)

    def test_of_profiles_lie_around_them(self):
        found = profile(SCORES, list(np.linspace(0, 100, 11)))
        assert found.low is not None
        assert found.high is not None
        for low, share, high in zip(found.low, found.shares, found.high, strict=True):
            assert 0 <= low <= share <= high <= 1

    def test_cover_the_truth(self):
        """Of a hundred experiments with 20 seeds, about 95 have the true mean of 0 inside."""
        rng = np.random.default_rng(0)
        inside = 0
        for _ in range(100):
            found = mean([rng.standard_normal(20).tolist() for _ in range(2)])
            assert found.low is not None
            assert found.high is not None
            inside += found.low <= 0 <= found.high
        assert 88 <= inside <= 99


class TestProperties:
    @given(tasks)
    def test_both_chances_are_one(self, ours):
        theirs = [[value + 7 for value in task[1:]] for task in ours]
        there, back = improvement(ours, theirs), improvement(theirs, ours)
        assert there.value + back.value == pytest.approx(1)
        assert improvement(ours, ours).value == pytest.approx(0.5)

    @given(seeds, seeds)
    def test_improvement_is_mann_and_whitney(self, ours, theirs):
        u = mannwhitneyu(ours, theirs, method="asymptotic").statistic
        assert improvement([ours], [theirs]).value == pytest.approx(u / len(ours) / len(theirs))

    @given(tasks)
    def test_order_and_scale(self, scores):
        """Order of seeds and tasks does not matter, and numbers move with the scores."""
        moved = [[2 * value + 1 for value in task[::-1]] for task in scores[::-1]]
        for statistic in (iqm, mean, median):
            before, after = statistic(scores), statistic(moved)
            assert after.value == pytest.approx(2 * before.value + 1)
            assert before.low is not None
            assert before.high is not None
            flat = [value for task in scores for value in task]
            assert min(flat) - 1e-9 <= before.low <= before.high <= max(flat) + 1e-9

    @given(tasks)
    def test_profiles_fall(self, scores):
        shares = profile(scores, [-51.0, 0.0, 50.0, 150.0]).shares
        assert sorted(shares, reverse=True) == list(shares)
        assert (shares[0], shares[-1]) == (1, 0)


def test_tasks_must_be_the_same():
    with pytest.raises(ValueError, match="1 and 2 tasks"):
        improvement([[1.0]], [[1.0], [2.0]])
