import equinox as eqx
import jax.numpy as jnp
import numpy as np

from countmorl.counting.base import AbstractCounter
from countmorl.pessimism import CountPenalty, NoPessimism


class Fixed(AbstractCounter):
    table: jnp.ndarray = eqx.field(converter=jnp.asarray)

    def counts(self, x, hidden):
        return self.table


X, HIDDEN = jnp.zeros((3, 2)), jnp.zeros((2, 3, 4))


def test_count_penalty_by_hand():
    # Two members: means 4, 0.5, 0; deviations 0, sqrt(0.5), 0.
    counter = Fixed([[4, 1, 0], [4, 0, 0]])
    lowered = CountPenalty(counter, 2.0, "LC", 0.5)(None, X, HIDDEN)  # type: ignore[arg-type]
    np.testing.assert_allclose(lowered.penalty, [1.0, 2.0, 2.0])
    np.testing.assert_allclose(lowered.facts["unseen"], [0, 0, 1])
    np.testing.assert_allclose(lowered.facts["count"], [4, 0.5 - 0.5 * 0.5**0.5, 0], atol=1e-6)
    assert not lowered.halt.any()


def test_without_pessimism_nothing_is_lowered():
    lowered = NoPessimism()(None, X, HIDDEN)  # type: ignore[arg-type]
    np.testing.assert_array_equal(lowered.penalty, 0)
