import equinox as eqx
import jax.random as jr
import numpy as np
import pytest

from countmorl.algorithms.morel import MOReL, _largest
from countmorl.pessimism import disagreement
from models import OBS, build, ensemble, model


def test_an_unknown_pair_ends_the_rollout_at_a_cost():
    given = build()
    rule = MOReL(coefficient=2.0, penalty=7.0).pessimism(given)
    largest = float(disagreement(given.ensemble, given.pairs).max())
    np.testing.assert_allclose(rule.threshold, largest / 2, rtol=1e-4)
    assert rule.penalty == 7.0
    obs, action = given.pairs[:, :OBS], given.pairs[:, OBS:]
    plain = model().step(obs, action, key=jr.key(0))[0]
    careful = eqx.tree_at(lambda m: m.pessimism, model(), rule)
    halted = careful.step(obs, action, key=jr.key(0))[0]
    unknown = np.asarray(disagreement(given.ensemble, given.pairs)) > largest / 2
    assert 0 < unknown.sum() < len(unknown)
    assert (np.asarray(halted.terminated) == unknown).all()
    np.testing.assert_allclose(halted.reward, plain.reward - 7.0 * unknown, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [3, 10_000, 10_003])
def test_morels_threshold_sees_every_row(rows):
    pairs = jr.normal(jr.key(9), (rows, 3)).at[-1].set(50.0)
    largest = float(_largest(ensemble(), pairs))
    np.testing.assert_allclose(largest, float(disagreement(ensemble(), pairs[-1:])[0]), rtol=1e-4)
