"""Which episodes are set aside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_log
from countmorl import load
from countmorl.data.dataset import Dataset
from countmorl.data.holdout import LEAST, draw_holdout, holdout_sentence, split
from countmorl.errors import RunError


def log_of(*lengths: int, unfinished: bool = False) -> Dataset:
    """Episodes of given lengths; the reward is the row's number."""
    rows = sum(lengths)
    arrays = make_log(rows, episode=rows + 1)
    ends = np.zeros(rows, bool)
    ends[np.cumsum(lengths) - 1] = True
    if unfinished:
        ends[-1] = False
    arrays |= {"terminals": np.zeros(rows, bool), "timeouts": ends}
    return load(arrays | {"rewards": np.arange(rows, dtype=np.float32)})


def test_a_tenth_of_the_episodes_by_hand():
    dataset = log_of(*[3] * 20)
    holdout = draw_holdout(dataset, 0.1, seed=0)
    assert holdout is not None
    assert (holdout.episodes, holdout.rows) == (2, 6)
    taught, judged = split(dataset, holdout)
    assert judged is not None
    assert judged.episode_ends.tolist() == [2, 5]
    # Whole episodes: each begins at a multiple of three and goes on for three rows.
    begun = judged.reward[[0, 3]]
    np.testing.assert_array_equal(begun % 3, 0)
    np.testing.assert_array_equal(judged.reward.reshape(2, 3), begun[:, None] + np.arange(3))
    assert sorted([*taught.reward, *judged.reward]) == list(range(60))
    np.testing.assert_array_equal(taught.obs, dataset.obs[taught.reward.astype(int)])


@given(
    lengths=st.lists(st.integers(1, 9), min_size=LEAST, max_size=30),
    share=st.floats(0.01, 0.5),
    seed=st.integers(0, 2**31 - 1),
)
def test_the_two_parts_are_the_log_and_the_seed_decides(lengths, share, seed):
    dataset = log_of(*lengths)
    holdout = draw_holdout(dataset, share, seed)
    assert holdout is not None
    assert holdout == draw_holdout(dataset, share, seed)
    taught, judged = split(dataset, holdout)
    assert judged is not None
    assert len(taught) + len(judged) == len(dataset)
    assert not set(taught.reward) & set(judged.reward)
    assert holdout.rows == len(judged)


def test_another_seed_draws_others():
    dataset = log_of(*[2] * 40)
    drawn = {
        tuple(part.reward)
        for seed in range(5)
        if (part := split(dataset, draw_holdout(dataset, 0.1, seed)).judged) is not None
    }
    assert len(drawn) == 5


@pytest.mark.parametrize(
    ("lengths", "share", "why"),
    [
        ([5] * (LEAST - 1), 0.1, "9 finished episodes and 10 are wanted"),
        ([60], 0.1, "1 finished episodes and 10 are wanted"),
        ([3] * 20, 0.0, "--holdout-episodes is 0"),
    ],
)
def test_short_logs_are_not_cut_and_it_is_said(lengths, share, why):
    dataset = log_of(*lengths)
    holdout = draw_holdout(dataset, share, seed=0)
    assert holdout is None
    assert split(dataset, holdout) == (dataset, None)
    assert why in holdout_sentence(dataset, share, holdout)


def test_what_is_set_aside_is_said():
    dataset = log_of(*[3] * 20)
    said = holdout_sentence(dataset, 0.1, draw_holdout(dataset, 0.1, 0))
    assert said == "set aside: 2 of 20 episodes (6 rows), to judge the policy by"


def test_neither_an_unfinished_episode_nor_one_of_half_the_log_is_set_aside():
    dataset = log_of(*[1] * 11, 100, 5, unfinished=True)
    for seed in range(30):
        judged = split(dataset, draw_holdout(dataset, 0.5, seed)).judged
        assert judged is not None
        assert judged.reward.max() < 11


def test_other_data_are_found_out():
    holdout = draw_holdout(log_of(*[3] * 20), 0.1, 0)
    with pytest.raises(RunError, match=r"2 episodes of .* were set aside"):
        split(log_of(*[3] * 40), holdout)
