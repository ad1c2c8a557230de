"""`Layout`: where each number of the next observation comes from."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from countmorl.data.dataset import Dataset
from countmorl.spaces import ActionSpace


class Layout(eqx.Module):
    """Most numbers of the next observation are predicted. Those of history repeat what is known,
    and exogenous ones, which no action can influence, are taken from the log's own sequences.
    """

    middle: Float[Array, " action"]
    half: Float[Array, " action"]
    """An action of the log is middle + half times the action in [-1, 1]."""
    predicted: tuple[int, ...] = eqx.field(static=True)
    copied: tuple[tuple[int, int], ...] = eqx.field(static=True)
    """(place in the next observation, place in (observation, action of the log))."""
    exogenous: tuple[int, ...] = eqx.field(static=True)
    discrete: bool = eqx.field(static=True, default=False)

    @classmethod
    def of(cls, dataset: Dataset) -> Layout:
        """What the dataset's schema says; without one every number is predicted."""
        everything, schema = cls.everything(dataset.obs_dim, dataset.space), dataset.schema
        if schema is None:
            return everything
        sources, exogenous = enumerate(schema.copied_from), schema.exogenous_numbers
        copied = tuple((place, source) for place, source in sources if source >= 0)
        known = {place for place, _ in copied} | set(exogenous)
        predicted = tuple(place for place in everything.predicted if place not in known)
        scale = (everything.middle, everything.half)
        return cls(*scale, predicted, copied, exogenous, dataset.discrete)

    @classmethod
    def everything(cls, obs_dim: int, space: ActionSpace) -> Layout:
        """Every number is predicted."""
        middle, half = (space.low + space.high) / 2, (space.high - space.low) / 2
        return cls(
            jnp.asarray(middle, jnp.float32),
            jnp.asarray(half, jnp.float32),
            predicted=tuple(range(obs_dim)),
            copied=(),
            exogenous=(),
            discrete=space.discrete,
        )

    @property
    def plain(self) -> bool:
        """Whether every number is predicted."""
        return not self.copied and not self.exogenous

    def changes(self, obs: Shaped[Any, "*batch obs"], next_obs: Shaped[Any, "*batch obs"]) -> Any:
        """How the predicted numbers have changed."""
        change = next_obs - obs
        return change if self.plain else change[..., np.array(self.predicted, int)]

    def logged(self, action: Float[Array, "*batch action"]) -> Float[Array, "*batch action"]:
        """An action in [-1, 1] as a vector of the log's own numbers."""
        return self.middle + self.half * action

    def following(
        self,
        obs: Float[Array, "batch obs"],
        action: Float[Array, "batch action"],
        change: Float[Array, "batch predicted"],
        outside: Float[Array, "batch exogenous"] | None = None,
    ) -> Float[Array, "batch obs"]:
        """The next observation; `outside` are its exogenous numbers."""
        if self.plain:
            return obs + change
        following = obs.at[:, np.array(self.predicted, int)].add(change)
        if self.copied:
            to, source = np.array(self.copied).T
            pair = jnp.concatenate([obs, self.logged(action)], axis=1)
            following = following.at[:, to].set(pair[:, source])
        if self.exogenous and outside is not None:
            following = following.at[:, np.array(self.exogenous)].set(outside)
        return following
