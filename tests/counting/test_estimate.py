import jax.numpy as jnp
import numpy as np
import pytest

from countmorl.counting.estimate import CountEstimate, count_penalty
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
