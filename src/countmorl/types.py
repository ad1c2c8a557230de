"""The few types that every part shares. Nothing here imports JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import jax

    Key = jax.Array
    """A typed random key, as made by `jax.random.key`."""
    Metrics = dict[str, jax.Array]
    """What one update or one epoch reports: scalars by name."""
else:
    Key, Metrics = Any, dict


class Transition(NamedTuple):
    """One step, or a batch of steps: obs, action, reward, next_obs, terminated.

    `terminated` is true where the task itself ended (a fall, a goal), never at a time limit.
    Actions are scaled to [-1, 1]; `Dataset` and `Policy` know the true bounds.
    """

    obs: Any
    action: Any
    reward: Any
    next_obs: Any
    terminated: Any
