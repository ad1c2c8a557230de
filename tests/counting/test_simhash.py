import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.counting.simhash import SimHashCounter

NO_HIDDEN = jnp.zeros((1, 20, 1))


def test_it_counts_signs_of_projections():
    x = jr.normal(jr.key(0), (500, 4))
    counter = SimHashCounter.of(x, bits=6, members=2, key=jr.key(1))
    got = np.asarray(counter.counts(x[:20], NO_HIDDEN))
    for member, projection in enumerate(np.asarray(counter.projections)):
        signs = np.asarray(x) @ projection > 0
        wanted = [(signs == signs[i]).all(axis=1).sum() for i in range(20)]
        np.testing.assert_array_equal(got[member], wanted)
