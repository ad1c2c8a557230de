import jax.numpy as jnp
import numpy as np
import pytest

from countmorl.counting.estimate import CountEstimate
from countmorl.runtime.levels import joined, level_of, mostly_unseen, thin_below

MEMBERS = np.array([[4, 0, 0, 9], [2, 0, 5, 9], [0, 0, 0, 9]])


def test_levels_by_hand():
    count = joined(MEMBERS, "AVG", 0.5)
    np.testing.assert_array_equal(count, [2, 0, 5 / 3, 9])
    # One of three members missed the first pair, two the third.
    assert mostly_unseen(MEMBERS).tolist() == [False, True, True, False]
    assert level_of(MEMBERS, count, 3.0).tolist() == ["thin", "unseen", "unseen", "covered"]
    assert level_of(MEMBERS, count, 2.0).tolist() == ["covered", "unseen", "unseen", "covered"]


@pytest.mark.parametrize("kind", ["LC", "AVG", "UC"])
def test_counts_are_joined_as_in_training(kind):
    members = np.random.default_rng(0).integers(0, 50, (5, 40))
    wanted = CountEstimate.of(jnp.asarray(members)).count(kind, 0.7)
    np.testing.assert_allclose(joined(members, kind, 0.7), wanted, rtol=1e-5, atol=1e-4)


def test_a_single_member_does_not_deviate():
    assert joined(np.array([[3]]), "LC", 2.0).tolist() == [3.0]


def test_thin_is_what_a_tenth_of_the_seen_pairs_are():
    count = np.array([0.0, *range(10, 21)])
    members = count[None].astype(int)
    assert thin_below(members, count) == 11.0  # Of 10 to 20; the unseen pair has no say.
    assert thin_below(members[:, :1], count[:1]) == 1.0
    assert thin_below(np.array([[1, 1]]), np.array([0.2, 0.4])) == 1.0
