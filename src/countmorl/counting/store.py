"""A fitted counter with its model, as named arrays: what a run keeps and a query needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from countmorl import trees
from countmorl.counting.base import AbstractCounter
from countmorl.counting.estimate import CountEstimate, Kind, count_penalty
from countmorl.dynamics.ensemble import Ensemble
from countmorl.errors import DataError
from countmorl.spaces import one_hot


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """What is known of some pairs: every member's count, the three estimates, the penalty."""

    members: np.ndarray
    """[members, pairs]"""
    estimates: dict[Kind, np.ndarray]
    """LC, AVG and UC, each [pairs]"""
    penalty: np.ndarray
    """What the run took from the reward of each pair."""

    def summary(self) -> dict[str, Any]:
        """Shares and quantiles over the pairs, as JSON-able values."""
        mean = self.estimates["AVG"]
        unseen = (self.members == 0).all(axis=0)
        return {
            "pairs": len(mean),
            "unseen": float(unseen.mean()),
            "count_quantiles": {
                f"{int(100 * q)}%": float(np.quantile(mean, q))
                for q in (0.05, 0.25, 0.5, 0.75, 0.95)
            },
            "estimates": {kind: float(values.mean()) for kind, values in self.estimates.items()},
            "penalty": float(self.penalty.mean()),
        }


class CountQuery(eqx.Module):
    """Counts of any pairs, by a run's model and counter: `query(obs, action) -> Counts`."""

    ensemble: Ensemble
    counter: AbstractCounter
    action_low: np.ndarray
    action_high: np.ndarray
    beta: float = eqx.field(static=True)
    estimate: Kind = eqx.field(static=True)
    alpha: float = eqx.field(static=True)
    discrete: bool = eqx.field(static=True, default=False)

    def __call__(self, obs: np.ndarray, action: np.ndarray) -> Counts:
        """Count pairs [n, obs] and [n, action] (or one of each), actions in their true bounds.

        Discrete actions are numbers [n], or one-hot vectors [n, actions].
        """
        obs, action = np.atleast_2d(np.float32(obs)), np.asarray(action)
        if self.discrete and action.size == len(obs):
            action = self._vectors(action)
        action = np.atleast_2d(np.float32(action))
        sizes = (obs.shape[1] + action.shape[1], len(action))
        if sizes != (self.ensemble.inputs.mean.shape[0], len(obs)):
            raise DataError(
                f"The counter wants observations and actions of "
                f"{len(self.ensemble.inputs.mean) - len(self.action_low)} and "
                f"{len(self.action_low)} numbers, one of each a pair; got shapes "
                f"{list(obs.shape)} and {list(action.shape)}."
            )
        span = np.asarray(self.action_high) - np.asarray(self.action_low)
        scaled = 2 * (action - np.asarray(self.action_low)) / span - 1
        members = np.asarray(_count(self, jnp.asarray(obs), jnp.asarray(scaled)))
        estimate = CountEstimate.of(jnp.asarray(members))
        kinds: tuple[Kind, ...] = ("LC", "AVG", "UC")
        values: dict[Kind, np.ndarray] = {
            kind: np.asarray(estimate.count(kind, self.alpha)) for kind in kinds
        }
        penalty = np.asarray(count_penalty(jnp.asarray(values[self.estimate]), self.beta))
        return Counts(members=members, estimates=values, penalty=penalty)

    def _vectors(self, action: np.ndarray) -> np.ndarray:
        count, numbers = len(self.action_low), action.reshape(-1)
        wrong = numbers[(numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= count)]
        if len(wrong):
            raise DataError(f"Actions must be numbers from 0 to {count - 1}, got {wrong[0]:g}.")
        return one_hot(numbers, count)


@eqx.filter_jit
def _count(query: CountQuery, obs: jax.Array, action: jax.Array) -> jax.Array:
    def one(x: jax.Array, _: jax.Array) -> jax.Array:
        return query.counter.counts(x, query.ensemble.trunks(x))

    return trees.in_blocks(one, query.ensemble.standardize(obs, action), axis=1)
