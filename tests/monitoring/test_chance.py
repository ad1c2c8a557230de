import numpy as np
import pytest

from countmorl.monitoring.chance import LEAST, Pool, exceeding, widened
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


def test_the_spread_is_that_of_whole_episodes():
    chance = pool().by_chance(25)
    # A share of 25 coins and one of 200: sqrt(1 / 4 / 25 + 1 / 4 / 200), rows do not matter.
    assert chance.spread[0] == pytest.approx(np.sqrt(0.01 + 0.00125), rel=0.05)
    assert chance.spread[1] == LEAST  # Rewards are all the same.


def test_the_limit_is_exceeded_as_seldom_as_is_asked():
    chance = pool().by_chance(25)
    limit = chance.limit(0.05)
    assert 1.8 < limit < 2.4  # Two deviations of a normal number.
    assert (np.abs(chance.moves).max(axis=1) > limit).mean() <= 0.05
    assert pool(rarer=True).by_chance(25).limit(0.05) < limit


def test_few_episodes_widen_a_spread_as_students_quantile_does():
    # One in forty: 2.093 of Student's with 19 degrees of freedom, 1.960 of the normal.
    few, many = widened(np.array([20, 10**6]), 0.025)
    assert (few, many) == (pytest.approx(2.093 / 1.960, rel=1e-3), pytest.approx(1, rel=1e-3))
    one, three, four = widened(np.array([1, 3, 4]), 0.01)
    assert one == three > four


def test_a_test_knows_its_spread_from_its_own_episodes():
    chance = pool(aside=10, fitted=True).by_chance(25)
    assert chance.episodes.tolist() == [10, 200]
    known = chance.known_spread(0.01) / chance.spread
    assert known[0] > 1.3 > 1.05 > known[1] > 1


def test_fewer_set_aside_move_farther():
    one = pool(aside=10, fitted=True).by_chance(25).spread[0]
    assert one == pytest.approx(np.sqrt(0.01 + 0.025), rel=0.06)


def test_the_chance_that_the_farthest_are_all_of_today():
    # Of 3 and 2 episodes: the farthest is one of today's 2 in 5; both farthest, 2/5 * 1/4.
    assert exceeding(3, 2, 1) == pytest.approx(0.4)
    assert exceeding(3, 2, 2) == pytest.approx(0.1)
    assert exceeding(3, 2, 0) == 1
