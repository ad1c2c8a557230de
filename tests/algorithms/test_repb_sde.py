import numpy as np

from countmorl.algorithms.repb_sde import RepBSDE
from countmorl.pessimism import Pairs
from models import build


def test_the_two_rounds_of_repb_sde():
    config = RepBSDE(epochs=7, first_epochs=3)
    assert [config.policy_epochs(i) for i in range(config.rounds)] == [3, 7]
    assert [RepBSDE(epochs=7).policy_epochs(i) for i in range(2)] == [3, 7]
    assert [RepBSDE(epochs=1).policy_epochs(i) for i in range(2)] == [1, 1]


def test_repb_sdes_penalty_is_in_units_of_the_targets():
    given = build()
    rule = RepBSDE(weight=2.0).pessimism(given)
    mean = np.asarray(given.ensemble.predict(given.pairs)[0])
    spread = mean.std(axis=0) / np.asarray(given.targets).std(axis=0)
    lowered = rule(Pairs(given.ensemble, given.pairs, given.ensemble.trunks(given.pairs)))
    np.testing.assert_allclose(lowered.penalty, 2 * np.linalg.norm(spread, axis=1), rtol=1e-3)
