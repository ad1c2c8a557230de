"""One step of every rollout, each in its elite."""

import numpy as np

from countmorl.evaluation.logged import Logged
from countmorl.evaluation.stepping import ROLLOUTS, Stepper
from countmorl.rollouts import PenalizedModel
from worlds import linear_log, true_model


def test_every_elite_carries_the_same_starts():
    stepper = Stepper(model=true_model(), logged=Logged(dataset=linear_log(60)))
    rows = stepper.rows.reshape(stepper.elites, -1)
    assert rows.shape == (2, ROLLOUTS)
    assert (rows[0] == rows[1]).all()
    assert (rows % 30 == 0).all()
    assert (stepper.last_rows == stepper.rows + 29).all()


def test_a_step_of_the_truth():
    stepper = Stepper(model=true_model(), logged=Logged(dataset=linear_log(12)))
    obs = np.linspace(-1, 1, len(stepper.rows), dtype=np.float32)[:, None]
    following, reward, ends = stepper.step(obs, np.ones_like(obs), 0)
    np.testing.assert_allclose(following, 0.9 * obs + 0.1, atol=1e-6)
    np.testing.assert_allclose(reward, obs[:, 0])
    assert not ends.any()
    assert not stepper.over(9).any()


def test_noise_is_drawn_or_not():
    true = true_model()
    model = PenalizedModel(true.ensemble, true.pessimism, true.termination, true.layout)
    parts = {"model": model, "logged": Logged(dataset=linear_log(12))}
    obs = np.zeros((len(Stepper(**parts).rows), 1), np.float32)

    def after(seed, noise):
        return Stepper(**parts, seed=seed, noise=noise).step(obs, obs, 0)[0]

    assert (after(0, 0.0) == after(1, 0.0)).all()
    assert (after(0, 1.0) != after(1, 1.0)).any()
