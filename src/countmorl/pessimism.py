"""Pessimism: how a model's step is lowered where the data say little."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from countmorl.counting.base import AbstractCounter
from countmorl.counting.estimate import CountEstimate, Kind, count_penalty
from countmorl.dynamics.ensemble import Ensemble
from countmorl.types import Metrics


class Lowered(eqx.Module):
    """What pessimism says of a batch of steps."""

    penalty: Float[Array, " batch"]
    """Subtracted from the reward."""
    halt: Bool[Array, " batch"]
    """Steps that end the rollout here."""
    facts: Metrics
    """Numbers of each step worth logging."""


class AbstractPessimism(eqx.Module):
    """A rule from state-action pairs to penalties."""

    @abstractmethod
    def __call__(
        self,
        ensemble: Ensemble,
        x: Float[Array, "batch inputs"],
        hidden: Float[Array, "elites batch hidden"],
    ) -> Lowered:
        """Judge pairs, given as standardised inputs and as the elites' hidden layers."""


class CountPenalty(AbstractPessimism):
    """Count-MORL: beta min(1, 1 / sqrt(n)), n by the chosen estimate (Algorithms 1 and 2)."""

    counter: AbstractCounter
    beta: float = eqx.field(static=True)
    estimate: Kind = eqx.field(static=True)
    alpha: float = eqx.field(static=True)

    def __call__(
        self,
        ensemble: Ensemble,
        x: Float[Array, "batch inputs"],
        hidden: Float[Array, "elites batch hidden"],
    ) -> Lowered:
        """Count with every elite, estimate, penalise."""
        counts = self.counter.counts(x, hidden)
        count = CountEstimate.of(counts).count(self.estimate, self.alpha)
        unseen = (counts == 0).all(axis=0)
        return Lowered(
            count_penalty(count, self.beta),
            jnp.zeros(len(x), bool),
            {"count": count, "unseen": unseen.astype(jnp.float32)},
        )


class NoPessimism(AbstractPessimism):
    """Trust the model everywhere."""

    def __call__(
        self,
        ensemble: Ensemble,
        x: Float[Array, "batch inputs"],
        hidden: Float[Array, "elites batch hidden"],
    ) -> Lowered:
        """Lower nothing."""
        return Lowered(jnp.zeros(len(x)), jnp.zeros(len(x), bool), {})
