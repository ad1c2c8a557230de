"""Starts, groups, and what was done next."""

import numpy as np

from countmorl.evaluation.acting import Actor
from countmorl.evaluation.logged import STARTS, Logged
from worlds import chain_log, linear_log


def test_episodes_start_at_their_first_rows():
    logged = Logged(dataset=linear_log(6, 5))
    assert logged.starts.tolist() == [0, 5, 10, 15, 20, 25]
    assert logged.group(np.array([0, 4, 5, 29])).tolist() == [0, 0, 1, 5]


def test_of_one_stream_any_row_is_a_start_and_blocks_are_groups():
    logged = Logged(dataset=linear_log(1, 400))
    assert logged.streams
    assert len(logged.starts) == STARTS
    assert logged.group(np.array([0, 399])).tolist() == [0, 19]


def test_what_was_done_next_is_the_next_rows_or_the_clones():
    data = linear_log(6, 5)
    logged = Logged(dataset=data)
    clone = Actor.of(lambda obs: np.full((len(obs), 1), 0.25), data)
    ahead = logged.next_actions(clone)
    np.testing.assert_array_equal(ahead[:4], data.action[1:5])
    assert ahead[4::5].tolist() == [[0.25]] * 6


def test_after_an_end_nothing_is_asked():
    data = chain_log(6, on=1.0)

    def never(obs):
        assert not len(obs)
        return np.zeros(0, int)

    assert Logged(dataset=data).next_actions(Actor.of(never, data)).shape == data.action.shape
