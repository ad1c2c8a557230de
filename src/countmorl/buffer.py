"""`RingBuffer`: the last few rollouts, and nothing that happened after an end."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Int, Shaped

from countmorl import trees
from countmorl.types import Key, Transition


class RingBuffer(eqx.Module):
    """`slots` rollouts of at most `rows` steps each; the oldest is overwritten."""

    data: Transition
    """Every slot's rows, one after the other; rows beyond a slot's size are never sampled."""
    sizes: Int[Array, " slots"]
    """Live rows of each slot."""
    slot: Int[Array, ""]
    rows: Int[Array, " size"] | None = None
    """The logged row that each step's exogenous numbers go on from; None where there are none."""

    @classmethod
    def empty(
        cls, slots: int, rows: int, obs_dim: int, action_dim: int, *, sequences: bool = False
    ) -> RingBuffer:
        """Make room for `slots` rollouts; with `sequences`, for the rows that they follow too."""
        size = slots * rows
        return cls(
            Transition(
                obs=jnp.zeros((size, obs_dim)),
                action=jnp.zeros((size, action_dim)),
                reward=jnp.zeros(size),
                next_obs=jnp.zeros((size, obs_dim)),
                terminated=jnp.zeros(size, bool),
            ),
            sizes=jnp.zeros(slots, jnp.int32),
            slot=jnp.zeros((), jnp.int32),
            rows=jnp.zeros(size, jnp.int32) if sequences else None,
        )

    def add(
        self,
        batch: Transition,
        alive: Bool[Array, " rows"],
        followed: Int[Array, " rows"] | None = None,
    ) -> RingBuffer:
        """Replace the oldest rollout by the rows of `batch` that are alive."""
        rows = len(alive)
        order = jnp.argsort(~alive, stable=True)  # Live rows first, in order.
        first = self.slot * rows

        def put(
            old: Shaped[Array, "size *rest"], new: Shaped[Array, "rows *rest"]
        ) -> Shaped[Array, "size *rest"]:
            place = (first, *(0,) * (old.ndim - 1))
            return jax.lax.dynamic_update_slice(old, new[order], place)

        data, kept = jax.tree.map(put, (self.data, self.rows), (batch, followed))
        return RingBuffer(
            data=data,
            sizes=self.sizes.at[self.slot].set(alive.sum(dtype=jnp.int32)),
            slot=(self.slot + 1) % len(self.sizes),
            rows=kept,
        )

    def sample(self, size: int, *, key: Key) -> Transition:
        """Draw rows uniformly from all live rows, with replacement."""
        ends = jnp.cumsum(self.sizes)
        drawn = jr.randint(key, (size,), 0, jnp.maximum(1, ends[-1]))
        slot = jnp.searchsorted(ends, drawn, side="right")
        offset = drawn - (ends[slot] - self.sizes[slot])
        rows = len(self.data.reward) // len(self.sizes)
        return trees.take(self.data, slot * rows + offset)

    def latest(
        self, size: int, horizon: int, *, key: Key
    ) -> tuple[Transition, Bool[Array, " {size}"], Int[Array, " {size}"] | None]:
        """Draw last steps of the newest rollouts, and tell which of them may be gone on from.

        Live rows lie in order of time, so the last of `horizon` parts of them holds all that lasted
        to the end. What ended before may be drawn too: it is terminal, as its flag says, or the
        logged sequence that it followed was over.
        """
        slot = (self.slot - 1) % len(self.sizes)
        live, rows = self.sizes[slot], len(self.data.reward) // len(self.sizes)
        offset = live - 1 - jr.randint(key, (size,), 0, jnp.maximum(1, live // horizon))
        place = slot * rows + jnp.maximum(0, offset)
        drawn, followed = trees.take((self.data, self.rows), place)
        going_on = (live > 0) & ~drawn.terminated
        return drawn, going_on if followed is None else going_on & (followed >= 0), followed

    @property
    def size(self) -> Int[Array, ""]:
        """Live rows in all slots."""
        return self.sizes.sum()
