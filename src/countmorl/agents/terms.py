"""The seam of the critics' loss: what a method adds to it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from countmorl.nets import MLP
from countmorl.types import Key, Metrics, Transition


class AbstractCriticTerm(eqx.Module):
    """What a method adds to the critics' loss."""

    soft_backup: ClassVar[bool] = True
    """Whether the next step's entropy counts in the critics' target."""

    @abstractmethod
    def __call__(
        self, critics: MLP, agent: Any, batch: Transition, *, key: Key
    ) -> tuple[Float[Array, ""], Metrics]:
        """Return the term, and numbers worth logging."""

    def learned(self, facts: Metrics) -> Self:
        """Return the term after a step; most learn nothing."""
        return self


class NoTerm(AbstractCriticTerm):
    """The critics of soft actor-critic as they are."""

    def __call__(
        self, critics: MLP, agent: Any, batch: Transition, *, key: Key
    ) -> tuple[Float[Array, ""], Metrics]:
        """Add nothing."""
        return jnp.zeros(()), {}
