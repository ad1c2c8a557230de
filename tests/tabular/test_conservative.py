import numpy as np
import pytest

from countmorl.errors import ConfigError
from countmorl.tabular.conservative import conservative_mdp, count_penalty, lowered
from countmorl.tabular.estimate import maximum_likelihood


def test_definition_3_by_hand(short_log):
    model = maximum_likelihood(short_log, gamma=0.5)
    careful = conservative_mdp(model, np.array([[0.5, 1], [1, 1]]), factor=2.0)
    assert careful.reward[0] == pytest.approx([2 / 3 - 1, -2])
    assert careful.reward[1].tolist() == [0, 0]  # The episode is over: nothing is uncertain.
    assert careful.transition is model.transition


def test_practical_penalty_by_hand():
    found = count_penalty(np.array([-1.0, 0, 0.25, 1, 4, 100]), beta=2.0)
    assert found.tolist() == [2, 2, 2, 2, 1, 0.2]


def test_no_penalty_changes_nothing(short_log):
    model = maximum_likelihood(short_log, gamma=0.5)
    same = lowered(model, count_penalty(short_log.counts, beta=0.0))
    assert (same.reward == model.reward).all()


def test_negative_beta_is_refused():
    with pytest.raises(ConfigError, match="at least 0"):
        count_penalty(np.ones(1), beta=-1.0)
