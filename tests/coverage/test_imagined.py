"""Rollouts in a model that is the truth, with counts that are told."""

import numpy as np
import pytest

from countmorl.coverage.imagined import COVERED, UNSEEN, Imagined, imagine
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.stepping import Stepper
from countmorl.runtime.levels import Counted, level_of
from worlds import linear_log, true_model


class Below:
    """States below a tenth were logged nine times, others never."""

    def counts(self, obs, action):
        members = np.where(obs[:, 0] < 0.1, 9, 0)[None]
        return Counted(members=members, count=members[0], level=level_of(members, members[0], 5))


def test_step_by_step_until_it_leaves():
    data = linear_log()
    actor = Actor.of(lambda obs: np.full((len(obs), 1), 0.5), data)
    stepper = Stepper(model=true_model(), logged=Logged(dataset=data))
    found = imagine(stepper, actor, Below(), steps=5)
    # From 0, always 0.5: 0, 0.05, 0.095, 0.1355, ...
    np.testing.assert_allclose(found.obs[:, 0, 0], [0, 0.05, 0.095, 0.1355, 0.17195], atol=1e-6)
    np.testing.assert_allclose(found.reward[:, 0], found.obs[:, 0, 0], atol=1e-6)
    assert found.level[:, 0].tolist() == [COVERED] * 3 + [UNSEEN] * 2
    assert found.shares.tolist() == [[0, 0, 1]] * 3 + [[1, 0, 0]] * 2
    assert found.whole.tolist() == pytest.approx([0.4, 0, 0.6])
    gone, step = found.left
    assert len(gone) == found.alive.shape[1]
    assert set(step.tolist()) == {3}
    np.testing.assert_allclose(found.action, 0.5)


def test_ended_rollouts_are_no_pairs():
    data = linear_log()
    actor = Actor.of(lambda obs: np.full((len(obs), 1), 0.5), data)
    stepper = Stepper(model=true_model(lambda obs: obs[0] > 0.09), logged=Logged(dataset=data))
    found = imagine(stepper, actor, Below(), steps=5)
    assert found.alive.all(axis=1).tolist() == [True, True]


def test_what_is_earned_from_there_on():
    """Rewards 1, 2, 4 at a discount of a half: 1 + 1 + 1, 2 + 2, 4; the last is of no rollout."""
    shape = np.ones((3, 1))
    found = Imagined(
        obs=shape[..., None],
        action=shape[..., None],
        reward=np.array([[1.0], [2.0], [4.0]]),
        alive=np.array([[True], [True], [True]]),
        count=shape,
        level=shape.astype(int),
    )
    assert found.to_go(0.5).tolist() == [[3], [4], [4]]
