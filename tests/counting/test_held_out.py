import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import load
from countmorl.counting.base import AbstractCounter
from countmorl.counting.exact import ExactCounter
from countmorl.counting.held_out import Episodes, coverage, held_out, without
from countmorl.counting.simhash import SimHashCounter
from countmorl.counting.table import CountTable
from countmorl.dynamics.fit import EnsembleConfig, split_rows
from countmorl.runs.calibration import HeldOut
from models import small_ensemble

FEW = HeldOut(
    by="return",
    episodes=2,
    rows=4,
    median_count=0.0,
    unseen=1.0,
    ordinary_count=16.0,
    ordinary_unseen=0.0,
    told_apart=1.0,
)


def log():
    """Twenty episodes of the same two pairs; the two best ones share one of their own."""
    x = np.tile([[0.0] * 3, [1.0] * 3], (20, 1)).astype(np.float32)
    of_row, returns = np.repeat(np.arange(20), 2), np.ones(20)
    returns[[3, 7]] = 9.0
    x[np.isin(of_row, [3, 7])] = 5.0
    return jnp.asarray(x), Episodes(of_row=of_row, returns=returns)


def test_the_best_episodes_do_not_vouch_for_each_other():
    x, episodes = log()
    best, last = held_out(small_ensemble(), ExactCounter.of(x), x, episodes)
    # Two episodes, four rows: their pair is nobody else's. Two ordinary episodes leave 16 of 18.
    assert best == FEW
    assert (last.by, last.episodes, last.rows, last.unseen) == ("time", 2, 4, 0.0)
    assert last.median_count == 16.0
    assert last.told_apart <= 0.5


def test_what_is_left_is_what_a_table_of_the_other_rows_holds():
    x = jr.normal(jr.key(1), (60, 3))
    counter, group = SimHashCounter.of(x, 4, 2, key=jr.key(2)), np.arange(0, 60, 3)
    hidden = jnp.zeros((2, 60, 1))
    words, counts = np.asarray(counter.words(x, hidden)), np.asarray(counter.counts(x, hidden))
    left = without(counts[:, group], words[:, group])
    for member in range(2):
        rest = CountTable.of(np.delete(words[member], group, axis=0))
        np.testing.assert_array_equal(left[member], rest.lookup(jnp.asarray(words[member, group])))


def test_a_pair_that_is_not_verified_has_nothing_left():
    words = np.ones((1, 2, 1), np.uint32)
    assert without(np.array([[0, 3]]), words).tolist() == [[0, 1]]


def test_ordinary_episodes_are_about_as_many_rows():
    lengths = np.array([8, *[2] * 19])
    episodes = Episodes(of_row=np.repeat(np.arange(20), lengths), returns=np.arange(20.0)[::-1])
    far = episodes.farthest["return"]
    assert sorted(far) == [0, 1]
    ordinary = episodes.ordinary(far)
    assert len(episodes.rows(far)) == len(episodes.rows(ordinary)) == 10
    assert not set(far) & set(ordinary)
    assert len(episodes.ordinary(np.arange(12))) == 4  # No more than half of the other eight.


def test_equal_returns_make_no_episode_the_best():
    episodes = Episodes(of_row=np.arange(10), returns=np.zeros(10))
    assert list(episodes.farthest) == ["time"]


def test_rows_find_their_episodes_in_the_model_s_order():
    rows, ends = np.arange(50), [9, 29, 44]
    dataset = load(
        {
            "obs": rows[:, None].astype(np.float32),
            "action": np.zeros((50, 1), np.float32),
            "reward": np.ones(50, np.float32),
            "next_obs": rows[:, None].astype(np.float32) + 1,
            "truncated": np.isin(rows, ends),
        }
    )
    config = EnsembleConfig(holdout=10)
    episodes = Episodes.of(dataset, config, seed=3)
    assert episodes.returns.tolist() == [10, 20, 15]  # The last episode has no end.
    kept, scales = split_rows(dataset, config, seed=3)
    number = np.asarray(scales.inputs.invert(kept.x))[:, 0].round()
    wanted = np.select([number <= 9, number <= 29, number <= 44], [0, 1, 2], -1)
    assert episodes.of_row.tolist() == wanted.tolist()


class Uncoded(AbstractCounter):
    """Counts without codes."""

    @classmethod
    def fit(cls, job):
        return cls()

    @classmethod
    def from_arrays(cls, arrays):
        return cls()

    def counts(self, x, hidden):
        return jnp.ones((1, len(x)), jnp.int32)


def test_what_cannot_be_held_out_is_said():
    x, episodes = log()
    found = held_out(small_ensemble(), Uncoded(), x, episodes)
    assert found == ()
    assert coverage(found, episodes) == (
        "Whole episodes were not held out: there are no codes of their pairs."
    )


@pytest.mark.parametrize(
    ("count", "words"), [(9, "9 finished episodes"), (1, "1 finished episode,")]
)
def test_few_episodes_are_said(count, words):
    x, _ = log()
    few = Episodes(of_row=np.arange(40) % count, returns=np.arange(float(count)))
    assert held_out(small_ensemble(), ExactCounter.of(x), x, few) == ()
    assert words in coverage((), few)
    assert "too few to hold whole ones out (10 are needed)" in coverage((), few)


def test_the_sentence_says_what_to_do():
    x, episodes = log()
    _, last = held_out(small_ensemble(), ExactCounter.of(x), x, episodes)
    said = coverage((FEW, last), episodes)
    assert said.startswith(
        "Held out whole, the tenth of the episodes with the highest returns lies apart from the "
        "rest (100 % of its pairs unseen, 0 % of ordinary episodes'; told apart in 100 % of "
        "cases), so the penalty keeps a policy from doing as it did: log more such episodes; the "
        "last tenth of the episodes is covered by the rest (0 % of its pairs unseen"
    )
    assert said.endswith("so counts see no drift.")
