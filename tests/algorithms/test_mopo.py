import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.algorithms.mopo import MOPO
from countmorl.pessimism import Pairs
from models import build, ensemble


def test_its_penalty_is_the_weighted_largest_norm_of_predicted_deviations():
    pairs, given = jr.normal(jr.key(1), (6, 3)), build()
    given.unit = 0.5  # Of a reward: the penalty is in the log's own unit.
    rule = MOPO(weight=5.0).pessimism(given)
    lowered = rule(Pairs(ensemble(), pairs, jnp.zeros((2, 6, 8))))
    _, log_var = map(np.asarray, ensemble().predict(pairs))
    wanted = 2.5 * np.linalg.norm(np.exp(0.5 * log_var), axis=-1).max(axis=0)
    np.testing.assert_allclose(lowered.penalty, wanted, rtol=1e-5)
    assert not lowered.halt.any()


@pytest.mark.parametrize("uncertainty", ["mean_spread", "ensemble_std"])
def test_other_uncertainties_look_at_observations_alone(uncertainty):
    mean = jnp.zeros((3, 2, 4)).at[0, :, -1].set(9.0)  # Members disagree on the reward alone.
    rule = MOPO(uncertainty=uncertainty).pessimism(build())
    np.testing.assert_array_equal(rule.doubt(mean, jnp.zeros_like(mean)), [0, 0])
