"""The data's behaviour: a quick clone of whoever logged them, and where it goes in the model."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float

from countmorl.agents.bc import BCAgent
from countmorl.algorithms.bc import BC
from countmorl.data.dataset import Dataset
from countmorl.fitting import AbstractFit
from countmorl.nets import Categorical
from countmorl.rollouts import PenalizedModel, Sequences, rollout
from countmorl.training.epoch import Frozen, PolicyState, epoch, on_device
from countmorl.types import Key, Metrics

UPDATES = 3000
"""Gradient steps of a quick clone: seconds."""
PAIRS = 20_000
"""Pairs that it imagines."""
STREAM = 6
"""Number folded into the seed for what it imagines."""


class BehaviourFit(AbstractFit[PolicyState, BCAgent]):
    """A quick clone; few updates, as it has to be like the data and not to be good."""

    name = "behaviour"
    stream = 5
    epochs = 1

    def __init__(self, dataset: Dataset, updates: int) -> None:
        self.dataset, self.updates = dataset, updates
        self.algorithm = BC(epochs=1, updates=updates)
        data = on_device(dataset.transitions("all"))
        self.frozen = Frozen(data, updates, self.algorithm.batch)

    def init(self, *, key: Key) -> PolicyState:
        """Random weights."""
        return PolicyState(self.algorithm.agent(self.dataset, key=key), None)

    def epoch(self, state: PolicyState, *, key: Key) -> tuple[PolicyState, Metrics]:
        """Imitate."""
        return epoch(self.frozen, state, key)

    def result(self, state: PolicyState) -> BCAgent:
        """The clone."""
        clone: Any = state.agent
        return clone


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
