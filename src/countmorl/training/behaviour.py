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
    obs = jnp.asarray(dataset.transitions("critic").obs)
    key, starts = jr.fold_in(jr.key(seed), STREAM), -(-PAIRS // horizon)
    sequences = Sequences.of(dataset, "critic")
    x, live = _imagined(model, clone, (obs, sequences), (horizon, starts), key)
    return x[np.asarray(live)]


@eqx.filter_jit
def _imagined(
    model: PenalizedModel,
    clone: BCAgent,
    data: tuple[Float[Array, "rows obs"], Sequences | None],
    sizes: tuple[int, int],
    key: Key,
) -> tuple[Float[Array, "pairs inputs"], Bool[Array, " pairs"]]:
    def act(obs: Float[Array, "batch obs"], *, key: Key) -> Float[Array, "batch action"]:
        if not clone.discrete:
            return clone.act(obs, key=key)
        # The likeliest action alone would be less than what was logged.
        return Categorical(clone.actor(clone.standardizer(obs))).sample(key=key)[0]

    start_key, roll_key = jr.split(key)
    (obs, sequences), (horizon, starts) = data, sizes
    rows = jr.randint(start_key, (starts,), 0, len(obs))
    follow = {} if sequences is None else {"sequences": sequences, "rows": rows}
    rolled = rollout(model, act, obs[rows], horizon, **follow, key=roll_key)
    return model.ensemble.standardize(rolled.steps.obs, rolled.steps.action), rolled.live
