import jax.numpy as jnp
import numpy as np
import pytest

from countmorl.agents.likeness import likeness
from countmorl.nets import MLP


def linear_critics(slopes):
    """Critics Q(s, a) = slope . a, of one observation number."""
    weights = jnp.stack([jnp.array([[0.0], [a], [b]]) for a, b in slopes])
    return MLP((weights,), (jnp.zeros((len(slopes), 1)),), "relu")


@pytest.mark.parametrize(
    ("slopes", "wanted"),
    [
        ([(1.0, 0.0), (2.0, 0.0)], 2.0),  # Two alike, whatever their size: 2 pairs of 1, over 1.
        ([(1.0, 0.0), (0.0, 3.0)], 0.0),
        ([(1.0, 0.0), (-1.0, 0.0)], -2.0),
        ([(3.0, 4.0), (1.0, 0.0), (0.0, 1.0)], 2 * (0.6 + 0.8 + 0.0) / 2),
        ([(0.0, 0.0), (1.0, 0.0)], 0.0),
    ],
)
def test_how_alike_critics_are_by_hand(slopes, wanted):
    value = likeness(linear_critics(slopes), jnp.ones((4, 1)), jnp.ones((4, 2)))
    np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5)
