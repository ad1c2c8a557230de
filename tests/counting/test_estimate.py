import jax.numpy as jnp
import numpy as np
import pytest

from countmorl.counting.estimate import (
    CountEstimate,
    count_penalty,
    members_penalty,
    mostly_unseen,
    unlike,
)
from countmorl.errors import ConfigError

# Three members' counts of three pairs: means 4, 1, 0; deviations (over N - 1) 2, 1, 0.
COUNTS = jnp.array([[2, 0, 0], [4, 1, 0], [6, 2, 0]])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("LC", [3.0, 0.5, 0.0]), ("AVG", [4.0, 1.0, 0.0]), ("UC", [5.0, 1.5, 0.0])],
)
def test_estimates_are_alpha_deviations_from_the_mean(kind, expected):
    np.testing.assert_allclose(CountEstimate.of(COUNTS).count(kind, 0.5), expected)


def test_penalty_by_hand_is_capped_at_beta():
    counts = jnp.array([4.0, 1.0, 0.25, 0.0, -2.0, 9.0])
    np.testing.assert_allclose(count_penalty(counts, 3.0), [1.5, 3.0, 3.0, 3.0, 3.0, 1.0])


def test_one_member_alone_has_no_deviation():
    estimate = CountEstimate.of(jnp.array([[3, 7]]))
    np.testing.assert_allclose(estimate.count("LC", 0.5), [3, 7])


@pytest.mark.usefixtures("unchecked")
def test_unknown_estimate_is_refused():
    with pytest.raises(ConfigError, match="LC, AVG or UC, got 'median'"):
        CountEstimate.of(COUNTS).count("median", 0.5)  # type: ignore[arg-type]


# Members' penalties of a pair: 1, 1, 0.1 (counts 0, 1, 100): mean 0.7, deviation 0.3 sqrt(3).
MIXED = jnp.array([[0, 4], [1, 4], [100, 4]])


@pytest.mark.parametrize(("kind", "expected"), [("LC", 0.7 + 0.15 * 3**0.5), ("AVG", 0.7)])
def test_penalties_joined_by_hand(kind, expected):
    joined = members_penalty(MIXED, kind, 0.5, 2.0, "penalties")
    np.testing.assert_allclose(joined, [2 * expected, 1.0], rtol=1e-6)


def test_a_mean_of_penalties_does_not_hide_members_that_never_saw_a_pair():
    by_counts = members_penalty(MIXED, "AVG", 0.5, 1.0, "counts")
    by_penalties = members_penalty(MIXED, "AVG", 0.5, 1.0, "penalties")
    np.testing.assert_allclose(by_counts[0], (101 / 3) ** -0.5, rtol=1e-6)
    assert by_penalties[0] > 4 * by_counts[0] - 1e-6
    np.testing.assert_allclose(by_counts[1], by_penalties[1])  # Where all agree, both do.


@pytest.mark.parametrize("kind", ["LC", "UC"])
def test_joined_penalties_stay_between_nothing_and_beta(kind):
    joined = members_penalty(MIXED, kind, 50.0, 3.0, "penalties")
    np.testing.assert_allclose(joined, [3.0 if kind == "LC" else 0.0, 1.5], rtol=1e-6)


def test_a_pair_is_mostly_unseen_where_more_than_half_of_the_members_missed_it():
    assert mostly_unseen(COUNTS).tolist() == [False, False, True]
    assert mostly_unseen(np.array([[0, 0], [0, 1]])).tolist() == [True, False]


def test_how_often_a_pair_costs_more_than_another():
    # Costs 1 and 1/2 beside 1/2 and 1/3: three of four comparisons are won, one is even.
    far, near = np.array([[0, 4]]), np.array([[4, 9]])
    assert unlike(far, near) == 0.875
    assert unlike(near, near) == 0.5
