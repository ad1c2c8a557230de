"""Where the data's behaviour goes in the model: what a quick clone of it imagines."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float

from countmorl.agents.bc import BCAgent
from countmorl.data.dataset import Dataset
from countmorl.nets import Categorical
from countmorl.rollouts import PenalizedModel, Sequences, rollout
from countmorl.types import Key

PAIRS = 20_000
"""Pairs that it imagines."""
STREAM = 6
"""Number folded into the seed for what it imagines."""


def imagined_pairs(
    model: PenalizedModel, clone: BCAgent, dataset: Dataset, *, horizon: int, seed: int
) -> Float[Array, "pairs inputs"]:
    """Standardised pairs of the clone's rollouts from logged observations, each `horizon` long."""
    step = dataset.transitions("critic")
    logged = jnp.asarray(step.obs), jnp.asarray(step.action)
    key, starts = jr.fold_in(jr.key(seed), STREAM), -(-PAIRS // horizon)
    sequences = Sequences.of(dataset, "critic")
    x, live = _imagined(model, clone, logged, sequences, (horizon, starts), key)
    return x[np.asarray(live)]


@eqx.filter_jit
def _imagined(
    model: PenalizedModel,
    clone: BCAgent,
    logged: tuple[Float[Array, "rows obs"], Float[Array, "rows action"]],
    sequences: Sequences | None,
    sizes: tuple[int, int],
    key: Key,
) -> tuple[Float[Array, "pairs inputs"], Bool[Array, " pairs"]]:
    (obs, action), (horizon, starts) = logged, sizes

    def act(here: Float[Array, "batch obs"], *, key: Key) -> Float[Array, "batch action"]:
        # What a clone does on average, or the likeliest action, would be less than was logged.
        if clone.discrete:
            return Categorical(clone.actor(clone.standardizer(here))).sample(key=key)[0]
        rows = jr.randint(key, (len(here),), 0, len(obs))
        chance = action[rows] - clone.expected(obs[rows])
        return jnp.clip(clone.expected(here) + chance, -1, 1)

    start_key, roll_key = jr.split(key)
    rows = jr.randint(start_key, (starts,), 0, len(obs))
    follow = {} if sequences is None else {"sequences": sequences, "rows": rows}
    rolled = rollout(model, act, obs[rows], horizon, **follow, key=roll_key)
    return model.ensemble.standardize(rolled.steps.obs, rolled.steps.action), rolled.live
