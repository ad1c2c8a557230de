import numpy as np
import pytest

from countmorl.errors import ConfigError
from countmorl.tabular.data import TabularData
from countmorl.tabular.estimate import best_of_class, maximum_likelihood
from countmorl.tabular.mdp import dense


def test_shares_by_hand(short_log):
    model = maximum_likelihood(short_log, gamma=0.5)
    assert short_log.terminal.tolist() == [False, True]
    assert model.transition[0] == pytest.approx([1 / 3, 2 / 3])
    assert model.reward[0] == pytest.approx([2 / 3, 0])  # Unseen: the least reward of the log.
    assert model.transition[1].tolist() == [1, 0]  # Unseen: stays.
    assert model.transition[2:].tolist() == [[0, 1], [0, 1]]  # Ended: stays, and pays nothing.
    assert model.reward[1].tolist() == [0, 0]


def test_unseen_reward_can_be_given(short_log):
    assert maximum_likelihood(short_log, gamma=0.5, unseen_reward=-7).reward[0, 1] == -7


def test_sparse_equals_dense():
    rng = np.random.default_rng(0)
    columns = (rng.integers(0, 5, 200), rng.integers(0, 2, 200), rng.normal(size=200))
    after, ended = rng.integers(0, 5, 200), np.zeros(200, bool)
    first = np.array([0])
    small = TabularData.of_rows(*columns, after, ended, first=first)
    large = TabularData.of_rows(*columns, after, ended, first=first, states=1500)
    a, b = (maximum_likelihood(data, gamma=0.9) for data in (small, large))
    assert not isinstance(b.transition, np.ndarray)
    assert np.allclose(dense(b.transition)[:10, :5], a.transition)
    assert np.allclose(b.reward[:5], a.reward)


def test_best_of_class_by_hand(short_log):
    fair, biased, impossible = [0.5, 0.5], [0.3, 0.7], [1.0, 0.0]
    others = [[1, 0], [0, 1], [0, 1]]
    models = np.array([[row, *others] for row in (fair, biased, impossible)], float)
    # log likelihood of one 0 and two 1s: 3 log 0.5 = -2.08; log 0.3 + 2 log 0.7 = -1.92.
    assert best_of_class(short_log, models)[0].tolist() == biased
    with pytest.raises(ConfigError, match="wanted \\[models, 4, 2\\]"):
        best_of_class(short_log, models[:, :2])
