"""Pessimism: how a model's step is lowered where the data say little."""

from abc import abstractmethod
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from countmorl.counting.base import AbstractCounter
from countmorl.counting.estimate import CountEstimate, Kind, count_penalty
from countmorl.dynamics.ensemble import Ensemble


class Pairs(eqx.Module):
    """A batch of state-action pairs, as a model sees them."""

    ensemble: Ensemble
    x: Float[Array, "batch inputs"]
    """Standardised inputs."""
    hidden: Float[Array, "elites batch hidden"]
    """The elites' second hidden layers."""


class Lowered(eqx.Module):
    """What pessimism says of a batch of steps."""

    penalty: Float[Array, " batch"]
    """Subtracted from the reward."""
    halt: Bool[Array, " batch"]
    """Steps that end the rollout here."""
    facts: dict[str, Float[Array, " batch"]]
    """Numbers of each step worth logging."""

    @classmethod
    def by(cls, penalty: Float[Array, " batch"], **facts: Float[Array, " batch"]) -> "Lowered":
        """Lower by a penalty and go on."""
        return cls(penalty, jnp.zeros(len(penalty), bool), facts)


class AbstractPessimism(eqx.Module):
    """A rule from state-action pairs to penalties."""

    @abstractmethod
    def __call__(self, pairs: Pairs) -> Lowered:
        """Judge a batch of pairs."""


class CountPenalty(AbstractPessimism):
    """Count-MORL: beta min(1, 1 / sqrt(n)), n by the chosen estimate (Algorithms 1 and 2)."""

    counter: AbstractCounter
    beta: float = eqx.field(static=True)
    estimate: Kind = eqx.field(static=True)
    alpha: float = eqx.field(static=True)

    def __call__(self, pairs: Pairs) -> Lowered:
        """Count with every elite, estimate, penalise."""
        counts = self.counter.counts(pairs.x, pairs.hidden)
        count = CountEstimate.of(counts).count(self.estimate, self.alpha)
        unseen = (counts == 0).all(axis=0).astype(jnp.float32)
        return Lowered.by(count_penalty(count, self.beta), count=count, unseen=unseen)


Uncertainty = Literal["max_std", "mean_spread", "ensemble_std"]


class StdPenalty(AbstractPessimism):
    """MOPO: weight u(s, a), where u is one of three uncertainties over all members.

    max_std: max_i |sigma_i|_2, the norm over next observation and reward. The others look at the
    next observation alone, mean_spread: max_i |mu_i - mean mu|_2; ensemble_std: sqrt(mean over
    columns of var_i mu_i).
    """

    weight: float = eqx.field(static=True)
    uncertainty: Uncertainty = eqx.field(static=True)

    def __call__(self, pairs: Pairs) -> Lowered:
        """Ask every member, elite or not."""
        doubt = self.doubt(*pairs.ensemble.predict(pairs.x))
        return Lowered.by(self.weight * doubt, uncertainty=doubt)

    def doubt(
        self,
        mean: Float[Array, "members batch targets"],
        log_var: Float[Array, "members batch targets"],
    ) -> Float[Array, " batch"]:
        """The uncertainty u."""
        if self.uncertainty == "max_std":
            return jnp.sqrt(jnp.exp(log_var).sum(axis=-1)).max(axis=0)
        spread = (mean - mean.mean(axis=0))[..., :-1]
        if self.uncertainty == "mean_spread":
            return jnp.linalg.norm(spread, axis=-1).max(axis=0)
        return jnp.sqrt(jnp.mean(jnp.square(spread), axis=(0, 2)))


class SpreadPenalty(AbstractPessimism):
    """RepB-SDE: weight |std_i(mu_i / scale)|_2 over all members, each target in its own scale."""

    scale: Float[Array, " targets"]
    weight: float = eqx.field(static=True)

    def __call__(self, pairs: Pairs) -> Lowered:
        """Ask every member, elite or not."""
        mean, _ = pairs.ensemble.predict(pairs.x)
        doubt = jnp.linalg.norm(mean.std(axis=0) / self.scale, axis=-1)
        return Lowered.by(self.weight * doubt, uncertainty=doubt)


class HaltUnknown(AbstractPessimism):
    """MOReL: a pair on which two members disagree by more than a threshold ends the rollout.

    disc(s, a) = max_{i, j} |f_i(s, a) - f_j(s, a)|_2 between the predicted next observations.
    """

    threshold: Float[Array, ""]
    penalty: float = eqx.field(static=True)

    def __call__(self, pairs: Pairs) -> Lowered:
        """Halt and penalise what is unknown."""
        doubt = disagreement(pairs.ensemble, pairs.x)
        unknown = doubt > self.threshold
        facts = {"uncertainty": doubt, "unknown": unknown.astype(jnp.float32)}
        return Lowered(jnp.where(unknown, self.penalty, 0.0), unknown, facts)


def disagreement(ensemble: Ensemble, x: Float[Array, "batch inputs"]) -> Float[Array, " batch"]:
    """Largest distance between two members' predicted next observations."""
    mean = ensemble.predict(x)[0][..., :-1]
    # Shifted by up to half of their number, every member meets every other.
    shifts = range(1, len(mean) // 2 + 1)
    apart = [jnp.linalg.norm(mean - jnp.roll(mean, k, axis=0), axis=-1) for k in shifts]
    return jnp.stack(apart).max(axis=(0, 1)) if apart else jnp.zeros(len(x))


class NoPessimism(AbstractPessimism):
    """Trust the model everywhere."""

    def __call__(self, pairs: Pairs) -> Lowered:
        """Lower nothing."""
        return Lowered.by(jnp.zeros(len(pairs.x)))
