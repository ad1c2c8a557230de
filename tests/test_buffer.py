import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.buffer import RingBuffer
from countmorl.types import Transition


def batch(first, rows=4):
    values = jnp.arange(first, first + rows, dtype=jnp.float32)
    wide = values[:, None]
    return Transition(wide, wide, values, wide, jnp.zeros(rows, bool))


def drawn(buffer, size=500):
    return set(np.asarray(buffer.sample(size, key=jr.key(0)).reward).astype(int).tolist())


def test_only_live_rows_of_the_last_rollouts_are_drawn():
    buffer = RingBuffer.empty(slots=2, rows=4, obs_dim=1, action_dim=1)
    alive = jnp.array([True, False, True, False])
    buffer = buffer.add(batch(0), alive)
    assert drawn(buffer) == {0, 2}
    buffer = buffer.add(batch(10), jnp.array([False, False, False, True]))
    assert drawn(buffer) == {0, 2, 13}
    buffer = jax.jit(RingBuffer.add)(buffer, batch(20), ~alive)  # The first rollout goes.
    assert drawn(buffer) == {13, 21, 23}
    assert int(buffer.size) == 3


def test_rows_are_drawn_equally_often():
    buffer = RingBuffer.empty(slots=2, rows=4, obs_dim=1, action_dim=1)
    buffer = buffer.add(batch(0), jnp.array([True, True, True, False]))
    buffer = buffer.add(batch(10), jnp.array([True, False, False, False]))
    rewards = np.asarray(buffer.sample(8000, key=jr.key(1)).reward)
    shares = [np.mean(rewards == value) for value in (0, 1, 2, 10)]
    np.testing.assert_allclose(shares, 0.25, atol=0.02)


def test_the_latest_rows_are_the_last_steps_of_the_newest_rollouts():
    buffer = RingBuffer.empty(slots=2, rows=6, obs_dim=1, action_dim=1)
    buffer = buffer.add(batch(0, rows=6), jnp.ones(6, bool))
    alive = jnp.array([True, True, True, True, True, False])  # Two branches of three steps.
    buffer = buffer.add(batch(10, rows=6), alive)
    latest, open_, _ = buffer.latest(100, 3, key=jr.key(0))
    assert set(np.asarray(latest.reward).tolist()) == {14.0}
    assert open_.all()
    latest, *_ = buffer.latest(100, 1, key=jr.key(0))
    assert set(np.asarray(latest.reward).tolist()) == {*range(10, 15)}


def test_nothing_is_gone_on_from_where_nothing_lives():
    buffer = RingBuffer.empty(slots=2, rows=4, obs_dim=1, action_dim=1)
    assert not buffer.latest(5, 2, key=jr.key(0))[1].any()
    buffer = buffer.add(batch(0), jnp.ones(4, bool)).add(batch(10), jnp.zeros(4, bool))
    assert not buffer.latest(5, 2, key=jr.key(0))[1].any()
    ended = batch(20)._replace(terminated=jnp.ones(4, bool))
    assert not buffer.add(ended, jnp.ones(4, bool)).latest(5, 2, key=jr.key(0))[1].any()


def test_rows_of_the_log_go_with_the_steps_that_follow_them():
    buffer = RingBuffer.empty(slots=2, rows=4, obs_dim=1, action_dim=1, sequences=True)
    buffer = buffer.add(batch(0), jnp.ones(4, bool), jnp.array([9, 9, 9, 9]))
    alive = jnp.array([True, False, True, True])
    buffer = buffer.add(batch(10), alive, jnp.array([5, 6, -1, 8]))
    latest, open_, rows = buffer.latest(100, 1, key=jr.key(0))
    followed = dict(zip(np.asarray(latest.reward).tolist(), np.asarray(rows).tolist(), strict=True))
    assert followed == {10.0: 5, 12.0: -1, 13.0: 8}
    np.testing.assert_array_equal(open_, np.asarray(rows) >= 0)
