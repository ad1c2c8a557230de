"""Thresholds are quantiles of what held-out pairs count."""

import numpy as np
import pytest

from countmorl.guarding.thresholds import HeldOut, seen
from countmorl.runtime.levels import Counted, level_of


class Told:
    """Counts that observations tell; a hundredth of them is the action that was not taken."""

    def counts(self, obs, action):
        members = obs.T.astype(int)
        return Counted(members=members, count=members[0], level=level_of(members, members[0], 5))


@pytest.fixture
def held():
    return HeldOut(obs=np.zeros((101, 1)), count=np.arange(101.0))


def test_a_quantile_is_the_share_of_false_alarms(held):
    settings = held.settings(0.2, dwell=4, fall_back="abstain")
    assert (settings.threshold, settings.release, settings.dwell) == (20, 40, 4)
    assert held.below(20.0) == pytest.approx(20 / 101)


def test_a_threshold_is_at_least_1_and_release_stops_at_the_median(held):
    assert held.threshold(0.001) == 1
    assert held.settings(0.4).release == 50


def test_unseen_pairs_count_nothing():
    class Crowded:
        def counts(self, obs, action):
            members = np.array([[0, 3], [0, 3], [900, 3]])
            count = members.mean(axis=0)
            return Counted(members=members, count=count, level=level_of(members, count, 2))

    assert seen(Crowded(), np.zeros((2, 1)), np.zeros((2, 1))).tolist() == [0, 3]
    assert seen(Told(), np.array([[7.0]]), np.zeros((1, 1))).tolist() == [7]
