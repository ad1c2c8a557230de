"""Rollouts of anything that acts, step by step: every elite carries its own, from logged starts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from countmorl.dynamics.gaussian import GaussianNet
from countmorl.evaluation.logged import Logged
from countmorl.rollouts import PenalizedModel
from countmorl.types import Key

ROLLOUTS = 40
"""Starts of each elite, where nothing else is said."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Stepper:
    """One model that rollouts are made in, with the same random numbers for every policy."""

    model: PenalizedModel
    logged: Logged
    seed: int = 0
    noise: float = 1.0
    """How much of the spread that the model foretells is drawn; 0: its means follow."""
    most: int = ROLLOUTS
    """Starts of each elite at the most."""

    @cached_property
    def rows(self) -> np.ndarray:
        """The logged row that each rollout starts at; all of one elite, then all of the next."""
        starts, rng = self.logged.starts, np.random.default_rng(self.seed)
        if len(starts) > self.most:
            starts = np.sort(rng.choice(starts, self.most, replace=False))
        return np.tile(starts, self.elites)

    @property
    def elites(self) -> int:
        """Members that carry rollouts."""
        return len(self.model.ensemble.elites)

    @cached_property
    def last_rows(self) -> np.ndarray:
        """The last row of the episode that each rollout starts in."""
        ends = self.logged.dataset.episode_ends
        return ends[np.searchsorted(ends, self.rows)]

    def over(self, at: int) -> np.ndarray:
        """Which rollouts have no logged exogenous numbers left to follow after `at` steps."""
        if not self.model.layout.exogenous:
            return np.zeros(len(self.rows), bool)
        return self.rows + at > self.last_rows

    def step(
        self, obs: np.ndarray, action: np.ndarray, at: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Step number `at` of all rollouts: next observations, rewards, and which ends come."""
        data, exogenous = self.logged.dataset, self.model.layout.exogenous
        outside = None
        if exogenous:
            known = np.minimum(self.rows + at, len(data) - 1)
            outside = data.next_obs[known][:, list(exogenous)]
            outside = outside.reshape(self.elites, -1, len(exogenous))
        here, done = (jnp.asarray(e.reshape(self.elites, -1, e.shape[1])) for e in (obs, action))
        drawn = jnp.asarray(self.noise, jnp.float32), jr.key(self.seed), jnp.asarray(at)
        found = _advance(self.model, here, done, outside, drawn)
        flat = [np.asarray(each).reshape(len(obs), *each.shape[2:]) for each in found]
        return flat[0], flat[1].astype(np.float64), flat[2]


@eqx.filter_jit
def _advance(
    model: PenalizedModel,
    obs: Float[Array, "elites starts obs"],
    action: Float[Array, "elites starts action"],
    outside: Float[Array | np.ndarray, "elites starts exogenous"] | None,
    drawn: tuple[Float[Array, ""], Key, Int[Array, ""]],
) -> tuple[
    Float[Array, "elites starts obs"], Float[Array, "elites starts"], Bool[Array, "elites starts"]
]:
    ensemble, (noise, stream, at) = model.ensemble, drawn

    def one(member: GaussianNet, obs: Array, action: Array, outside: Array | None, key: Key):
        noise_key, end_key = jr.split(key)
        mean, log_var = member.head(member.trunk(ensemble.standardize(obs, action)))
        change = mean + noise * jnp.exp(0.5 * log_var) * jr.normal(noise_key, mean.shape)
        next_obs, reward = model.following(obs, action, change, outside)
        return next_obs, reward, model.termination(obs, action, next_obs, key=end_key)

    outside = None if outside is None else jnp.asarray(outside)
    each = jr.split(jr.fold_in(stream, at), len(obs))
    return jax.vmap(one)(ensemble.elite_members, obs, action, outside, each)
