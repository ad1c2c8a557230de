"""The few types that every part shares. Nothing here imports JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jaxtyping
from jaxtyping import Bool, Float

if TYPE_CHECKING:
    import jax

    Key = jax.Array
    """A typed random key, as made by `jax.random.key`."""
    Metrics = dict[str, jax.Array]
    """What one update or one epoch reports, by name."""


class Transition(NamedTuple):
    """One step, or a batch of steps: obs, action, reward, next_obs, terminated.

    `terminated` is true where the task itself ended (a fall, a goal), never at a time limit.
    Actions are scaled to [-1, 1]; `Dataset` and `Policy` know the true bounds.
    The arrays are NumPy's or JAX's.
    """

    obs: Float[Any, "*batch obs"]
    action: Float[Any, "*batch action"]
    reward: Float[Any, "*batch"]
    next_obs: Float[Any, "*batch obs"]
    terminated: Bool[Any, "*batch"]


def __getattr__(name: str) -> Any:
    # Who asks for these two has JAX.
    if name == "Key":
        return jaxtyping.Key[jaxtyping.Array, ""]
    if name == "Metrics":
        return dict[str, jaxtyping.Array]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
