import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.agents.base import AbstractAgent
from countmorl.data.favoured import Favoured
from countmorl.training.epoch import Frozen, PolicyState, epoch, on_device
from countmorl.types import Transition


class Tally(AbstractAgent):
    """Counts its updates and remembers which rows it was given."""

    count: jax.Array
    seen: jax.Array

    def update(self, batch, *, key):
        count = self.count + 1
        seen = self.seen.at[batch.reward.astype(jnp.int32)].add(1)
        rows = jnp.asarray(batch.reward.shape[0], jnp.float32)
        return Tally(count, seen), {"count": count.astype(jnp.float32), "rows": rows}

    def act(self, obs, *, key):
        return obs

    def policy(self, space, info):
        raise AssertionError("An epoch asks for no policy.")


ROWS = 10


def frozen(updates=4, batch=2500):
    numbers = np.arange(ROWS, dtype=np.float32)
    column = numbers[:, None]
    steps = Transition(column, column, numbers, column, np.zeros(ROWS, bool))
    return Frozen(on_device(steps), updates, batch)


def fresh():
    return PolicyState(Tally(jnp.zeros((), jnp.int32), jnp.zeros(ROWS, jnp.int32)), None)


def test_updates_batches_and_means_by_hand():
    state, metrics = epoch(frozen(), fresh(), jr.key(0))
    assert int(state.agent.count) == 4
    assert float(metrics["count"]) == (1 + 2 + 3 + 4) / 4
    assert float(metrics["rows"]) == 2500
    assert int(state.agent.seen.sum()) == 4 * 2500


def test_every_row_is_drawn_about_equally_often():
    state, _ = epoch(frozen(), fresh(), jr.key(0))
    counts = np.asarray(state.agent.seen)
    # 10,000 draws of 10 rows: 1,000 each, with a standard deviation of 30.
    assert counts.min() > 850
    assert counts.max() < 1150


def test_the_same_key_gives_the_same_epoch_and_another_does_not():
    one, _ = epoch(frozen(), fresh(), jr.key(0))
    two, _ = epoch(frozen(), fresh(), jr.key(0))
    other, _ = epoch(frozen(), fresh(), jr.key(1))
    assert eqx.tree_equal(one, two)
    assert not eqx.tree_equal(one, other)


def test_the_data_survives_an_epoch():
    """The state is donated, the frozen part is not."""
    data = frozen()
    epoch(data, fresh(), jr.key(0))
    assert np.asarray(data.data.reward).tolist() == list(range(ROWS))


def test_favoured_episodes_are_drawn_by_their_chances():
    chosen = (jnp.array([0.25, 1.0]), jnp.array([0, 4]), jnp.array([4, 6]))
    some = eqx.tree_at(
        lambda each: each.favoured, frozen(), Favoured(*chosen), is_leaf=lambda leaf: leaf is None
    )
    drawn = np.asarray(some.draw(40_000, key=jr.key(0)))
    share = np.bincount(drawn, minlength=ROWS) / len(drawn)
    np.testing.assert_allclose(share, [0.25 / 4] * 4 + [0.75 / 6] * 6, atol=0.005)
