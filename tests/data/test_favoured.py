import numpy as np
import pytest

from countmorl.data.dataset import Dataset
from countmorl.data.favoured import advantages, earnings, favoured
from countmorl.data.sources import load


def log(rewards: list[list[float]], *, starts=None, terminated=(), following=True) -> Dataset:
    """Episodes of so many rewards; those named are terminal, the others were cut."""
    lengths = [len(each) for each in rewards]
    rows = sum(lengths)
    ends = np.cumsum(lengths) - 1
    obs = np.zeros((rows, 1), np.float32)
    if starts is not None:
        obs[ends - lengths + 1, 0] = starts
    over = np.zeros(rows, bool)
    over[ends[list(terminated)]] = True
    cut = np.zeros(rows, bool)
    cut[ends] = ~over[ends]
    return load(
        {
            "obs": obs,
            "action": np.linspace(-1, 1, rows, dtype=np.float32)[:, None],
            "reward": np.float32(np.concatenate(rewards)),
            "terminated": over,
            "truncated": cut,
        }
        | ({"next_obs": obs} if following else {})
    )


def test_earnings_go_on_at_their_own_rate_where_they_were_cut():
    data = log([[1, 1, 1, 1], [2, 2], [3, 3]], terminated=[2])
    # The second would have gone on for two steps more; the third was over.
    np.testing.assert_allclose(earnings(data), [4, 8, 6])


def test_a_lucky_start_is_no_merit():
    starts = np.arange(40.0) % 2 * 2 - 1
    skill = np.repeat([0.0, 1.0], 20)
    data = log(
        [[10 * start + own] for start, own in zip(starts, skill, strict=True)], starts=starts
    )
    earned, found = earnings(data), advantages(data)
    assert np.corrcoef(earned, skill)[0, 1] < 0.1
    assert np.corrcoef(found, skill)[0, 1] > 0.85
    # 40 episodes against the ridge's one: 1/41 of what the start tells is left.
    np.testing.assert_allclose(np.ptp(found[:20]), 2 * 10 / 41, rtol=1e-3)


def test_rows_of_the_best_episode_are_drawn_e_to_the_favour_times_as_often():
    data = log([[float(k)] * 3 for k in range(11)])
    found = favoured(data, 5.0, "all")
    assert found is not None
    chance = np.diff(found.chances, prepend=0) / found.length
    np.testing.assert_allclose(np.diff(np.log(chance)), 0.5, atol=1e-3)
    np.testing.assert_array_equal(found.first, 3 * np.arange(11))


def test_rows_that_are_no_use_are_not_drawn():
    # A model learns nothing from a last step whose next observation is not known.
    data = log([[0.0] * 5, [1.0] * 5, *[[1.0]] * 10], terminated=range(2, 12), following=False)
    found = favoured(data, 2.0, "model")
    assert found is not None
    np.testing.assert_array_equal(found.first, [0, 4])
    np.testing.assert_array_equal(found.length, [4, 4])


def test_where_all_went_about_equally_well_all_count_about_the_same():
    data = log([[100.0 + k / 10] for k in range(11)])
    found = favoured(data, 10.0, "all")
    assert found is not None
    chance = np.diff(found.chances, prepend=0)
    # The range is 1 and an episode usually earns 100.5.
    np.testing.assert_allclose(chance[-1] / chance[0], np.exp(10 / 100.5), rtol=1e-3)


def test_a_few_lucky_episodes_are_not_a_log():
    data = log([[0.0]] * 99 + [[1.0]])
    found = favoured(data, 10.0, "all")
    assert found is not None
    chance = np.diff(found.chances, prepend=0)
    assert 1 / np.square(chance).sum() >= 10


@pytest.mark.parametrize(
    ("favour", "rewards"), [(0.0, range(12)), (5.0, [1.0] * 12), (5.0, range(9))]
)
def test_all_rows_alike_where_nothing_tells_episodes_apart(favour, rewards):
    assert favoured(log([[float(each)] for each in rewards]), favour, "all") is None
