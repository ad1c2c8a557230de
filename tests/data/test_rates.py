import numpy as np

from countmorl.data.rates import blocks, worst_rate
from countmorl.data.sources import load


def log(rewards, terminated=()):
    steps = np.arange(len(rewards) + 1, dtype=np.float32)[:, None]
    ends = np.zeros(len(rewards), bool)
    ends[list(terminated)] = True
    return load(
        {
            "obs": steps[:-1],
            "action": np.linspace(-1, 1, len(rewards))[:, None],
            "next_obs": steps[1:],
            "reward": np.array(rewards, np.float32),
            "terminated": ends,
        }
    )


def test_the_worst_rate_is_an_episodes_or_a_blocks():
    assert worst_rate(log([5, 5, 1, 3, 4, 4, 4, 4, 9], terminated=[1, 3, 5, 7, 8])) == 2
    assert worst_rate(log(list(range(40)))) == 0.5


def test_blocks_cover_all_rows():
    assert blocks(40).tolist() == list(range(1, 40, 2))
    assert blocks(3).tolist() == [0, 1, 2]
