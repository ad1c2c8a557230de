from dataclasses import replace

import numpy as np
import pytest

from countmorl.monitoring.chance import LEAST, Pool, exceeding
from countmorl.monitoring.tally import Edges, Tally


def pool(episodes: int = 200, aside: int = 0, fitted: bool = False, rarer: bool = False) -> Pool:
    """Episodes of ten rows; of each all rows or none lie at or below the only edge."""
    below = np.zeros((episodes, 1), np.int64)
    below[::2] = 10
    flags = np.arange(episodes) < aside
    return Pool(
        tally=Tally(below=below, known=np.full((episodes, 1), 10), reward=np.zeros(episodes)),
        aside=flags,
        fitted=np.array([fitted]),
        rarer=np.array([rarer]),
        edges=Edges(at=np.zeros(1), column=np.zeros(1, np.int64)),
        spread=1.0,
    )


def test_shares_and_their_reference():
    found = pool(4)
    assert found.shares(found.tally).tolist() == [[1, 0], [0, 0], [1, 0], [0, 0]]
    assert found.reference.tolist() == [0.5, 0]
    assert pool(4, aside=1, fitted=True).reference.tolist() == [1, 0]
    assert pool(4, aside=1, fitted=False).reference.tolist() == [0.5, 0]
    assert found.length == 10


def some(episodes: int, below: int) -> Tally:
    """Today's episodes; of so many all ten rows lie at or below the edge."""
    rows = np.zeros((episodes, 1), np.int64)
    rows[:below] = 10
    return Tally(below=rows, known=np.full((episodes, 1), 10), reward=np.zeros(episodes))


def test_the_spread_is_that_of_whole_episodes():
    chance = pool().by_chance(some(25, 20))
    # A share of 25 coins and one of 200: sqrt(1 / 4 / 25 + 1 / 4 / 200), rows do not matter.
    assert chance.spread[0] == pytest.approx(np.sqrt(0.01 + 0.00125), rel=0.01)
    assert chance.spread[1] == LEAST  # Rewards are all the same.
    assert chance.moved == pytest.approx([0.3 / chance.spread[0], 0])


def test_the_spread_by_hand_where_episodes_differ_in_length():
    found = pool(2)
    tally = Tally(
        below=np.array([[3], [1]]), known=np.array([[4], [10]]), reward=np.array([0.0, 0.0])
    )
    chance = replace(found, tally=tally).by_chance(some(1, 1))
    # p = 4 / 14; r = 3 - 4 p and 1 - 10 p; a mean of 7 rows.
    p = 4 / 14
    square = (3 - 4 * p) ** 2 + (1 - 10 * p) ** 2
    spread = np.sqrt(square / 49 * (1 + 1 / 2) + LEAST**2)
    assert chance.spread[0] == pytest.approx(spread)
    assert chance.moved[0] == pytest.approx((1 - p) / spread)


def test_the_limit_is_exceeded_as_seldom_as_is_asked():
    chance = pool().by_chance(some(25, 12))
    limit = chance.limit(0.05)
    assert 1.8 < limit < 2.6  # Two deviations of a normal number, and coins are coarse.
    assert (chance.others > limit).mean() <= 0.05 < (chance.others > 0.7 * limit).mean()
    assert pool(rarer=True).by_chance(some(25, 12)).limit(0.05) < limit


def test_of_few_odd_episodes_alarms_are_as_seldom_as_is_asked():
    rng, alarms = np.random.default_rng(0), []
    none = np.zeros((24, 1), np.int64)
    for _ in range(300):
        # Rewards of a long tail: a spread of twenty of them says little.
        tally = Tally(below=none, known=none + 10, reward=10 * rng.lognormal(0, 2, 24))
        chance = replace(pool(20), tally=tally.some(np.arange(20))).by_chance(
            tally.some(np.arange(20, 24)), seed=int(rng.integers(1000))
        )
        alarms.append([chance.moved.max() > chance.limit(each) for each in (0.05, 0.2)])
    assert np.mean(alarms, axis=0) == pytest.approx([0.05, 0.2], abs=0.03)


def test_where_others_are_too_few_today_must_lie_far_beyond_them():
    chance = pool(10).by_chance(some(1, 1))
    assert chance.deals == 11
    assert 0.05 < chance.same.mean() < 0.15
    farthest = chance.others[~chance.same].max()
    # Once in eleven times today is the farthest of all; a tail of x^-2 does the rest.
    assert chance.limit(0.01) == pytest.approx(farthest * np.sqrt(1 / 0.11))
    assert chance.limit(0.2) == pytest.approx(chance.others.max())


def test_only_what_nothing_was_fitted_on_changes_places_with_today():
    chance = pool(aside=10, fitted=True).by_chance(some(2, 1))
    assert chance.deals == 66
    # A share of 2 coins and one of 10, of which the other 190 are no part.
    square = 0.25 * 10 / 9
    assert chance.spread[0] == pytest.approx(np.sqrt(square / 2 + square / 10), rel=0.01)
    whole = pool(aside=10).by_chance(some(2, 1))
    assert whole.deals == 66
    assert whole.spread[0] == pytest.approx(np.sqrt(0.25 / 2 + 0.25 / 200), rel=0.01)


def test_the_chance_that_the_farthest_are_all_of_today():
    # Of 3 and 2 episodes: the farthest is one of today's 2 in 5; both farthest, 2/5 * 1/4.
    assert exceeding(3, 2, 1) == pytest.approx(0.4)
    assert exceeding(3, 2, 2) == pytest.approx(0.1)
    assert exceeding(3, 2, 0) == 1
