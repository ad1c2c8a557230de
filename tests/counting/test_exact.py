import jax.numpy as jnp
import numpy as np

from countmorl.counting.exact import ExactCounter

NO_HIDDEN = jnp.zeros((1, 5, 1))


def test_pairs_are_counted_that_repeat_but_for_rounding():
    x = jnp.array([[0.0, 1.0], [0.0, 1.0], [0.5, 1.0]])
    counter = ExactCounter.of(x)
    queries = jnp.array([[0.0, 1.0], [0.5, 1.0], [0.5, 1.0000001], [0.5, 1.002], [-0.0, 1.0]])
    np.testing.assert_array_equal(counter.counts(queries, NO_HIDDEN), [[2, 1, 1, 0, 2]])
    assert counter.rows_per_code == 1.5
