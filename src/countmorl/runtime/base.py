"""What everything that acts has in common."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Sized(Protocol):
    """A policy, or a dataset that one is learned from."""

    @property
    def obs_dim(self) -> int:
        """Numbers in one observation."""
        ...

    @property
    def action_dim(self) -> int:
        """Numbers in one action; how many actions there are where they are discrete."""
        ...

    @property
    def discrete(self) -> bool:
        """Whether actions are numbers from 0 to `action_dim` - 1, not vectors."""
        ...


@runtime_checkable
class PolicyLike(Sized, Protocol):
    """Whatever acts: a policy of ours, or one of the user's own."""

    def act(self, obs: np.ndarray, *, rng: np.random.Generator | None = None) -> Any:
        """Return the action for one observation [obs_dim] or a batch [n, obs_dim].

        The best action it knows; with `rng`, a sample where the policy is stochastic.
        """
        ...
