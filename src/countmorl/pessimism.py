"""Pessimism: how a model's step is lowered where the data say little."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float

from countmorl.counting.base import AbstractCounter
from countmorl.counting.estimate import CountEstimate, Join, Kind, members_penalty, mostly_unseen
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.types import Key

Worth = Callable[..., Float[Array, " batch"]]


class Ahead(eqx.Module):
    """What pairs lead to, for a pessimism that looks ahead."""

    worth: Worth
    """From what may follow (standardised targets of each pair) and a `key` to r + gamma V(s')."""
    key: Key


class Pairs(eqx.Module):
    """A batch of state-action pairs, as a model sees them."""

    ensemble: Ensemble
    x: Float[Array, "batch inputs"]
    """Standardised inputs."""
    hidden: Float[Array, "elites batch hidden"]
    """The elites' second hidden layers."""
    ahead: Ahead | None = None
    """Where the pessimism looks ahead, what steps are worth."""


class Lowered(eqx.Module):
    """What pessimism says of a batch of steps."""

    penalty: Float[Array, " batch"]
    """Subtracted from the reward."""
    halt: Bool[Array, " batch"]
    """Steps that end the rollout here."""
    facts: dict[str, Float[Array, " batch"]]
    """Numbers of each step worth logging."""
    worth: float | None = eqx.field(static=True, default=None)
    """What a step that halts is worth at the most, whatever the model promises there."""

    @classmethod
    def by(cls, penalty: Float[Array, " batch"], **facts: Float[Array, " batch"]) -> "Lowered":
        """Lower by a penalty and go on."""
        return cls(penalty, jnp.zeros(len(penalty), bool), facts)


class AbstractPessimism(eqx.Module):
    """A rule from state-action pairs to penalties."""

    looks_ahead: ClassVar[bool] = False
    """Whether it asks for the critics' values of what may follow (`Pairs.ahead`)."""

    @abstractmethod
    def __call__(self, pairs: Pairs) -> Lowered:
        """Judge a batch of pairs."""


def elites_spread(
    ensemble: Ensemble, hidden: Float[Array, "elites batch hidden"]
) -> Float[Array, " batch"]:
    """How far apart the elites' predictions are: the norm of their deviation, targets scaled.

    Where a target never varies, what a network says of it is not what is predicted.
    """
    mean, _ = jax.vmap(GaussianNet.head)(ensemble.elite_members, hidden)
    apart = jnp.where(ensemble.targets.std > 0, mean.std(axis=0), 0.0)
    return jnp.linalg.norm(apart, axis=-1)


DEAREST = 10.0
"""Betas that a step costs at the most, priced by the elites' spread: far beyond any in an audit."""


class CountPenalty(AbstractPessimism):
    """Count-MORL: beta min(1, 1 / sqrt(n)), n by the chosen estimate (Algorithms 1 and 2)."""

    counter: AbstractCounter
    beta: float = eqx.field(static=True)
    estimate: Kind = eqx.field(static=True)
    alpha: float = eqx.field(static=True)
    join: Join = eqx.field(static=True, default="counts")
    end: float | None = eqx.field(static=True, default=None)
    """What a rollout is worth that ends where a pair is astray; None: it goes on."""
    spread: float | None = eqx.field(static=True, default=None)
    """Pairs are priced by the elites' spread, of which this much costs beta, and those that most
    never saw at beta at the least; None: by the count."""

    def __call__(self, pairs: Pairs) -> Lowered:
        """Count with every elite, estimate, penalise."""
        counts = self.counter.counts(pairs.x, pairs.hidden)
        count = CountEstimate.of(counts).count(self.estimate, self.alpha)
        facts = {"count": count, "unseen": (counts == 0).all(axis=0).astype(jnp.float32)}
        penalty = members_penalty(counts, self.estimate, self.alpha, self.beta, self.join)
        unknown = mostly_unseen(counts)
        if self.spread is not None:
            doubt = elites_spread(pairs.ensemble, pairs.hidden)
            facts["uncertainty"] = doubt
            # Beyond beta too: there the spread tells most of the error (lab/codes.md).
            price = self.beta * jnp.minimum(DEAREST, doubt / max(self.spread, 1e-12))
            penalty = jnp.where(unknown, jnp.maximum(self.beta, price), price)
        if self.end is None:
            return Lowered.by(penalty, **facts)
        astray = self.counter.astray(pairs.x, pairs.hidden, counts)
        facts["unknown"] = astray.astype(jnp.float32)
        return Lowered(penalty, astray, facts, self.end)


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


class BellmanPenalty(AbstractPessimism):
    """MOBILE: weight times the deviation over the elites of E_{s'}[r + gamma V(s')].

    The expectation is a mean over a few draws. All elites draw with the same noise: what they then
    differ in is what they say, not what they happened to draw.
    """

    looks_ahead: ClassVar[bool] = True

    weight: float = eqx.field(static=True)
    samples: int = eqx.field(static=True)

    def __call__(self, pairs: Pairs) -> Lowered:
        """Ask every elite where it would go, and what it would be worth there."""
        ahead = pairs.ahead
        assert ahead is not None, "a rollout must be given the values of what follows"
        mean, log_var = jax.vmap(GaussianNet.head)(pairs.ensemble.elite_members, pairs.hidden)
        deviation = jnp.exp(0.5 * log_var)

        def draw(key: Key) -> Float[Array, "elites batch"]:
            noise_key, value_key = jr.split(key)
            drawn = mean + deviation * jr.normal(noise_key, mean.shape[1:])
            return jax.vmap(lambda each: ahead.worth(each, key=value_key))(drawn)

        # One draw after the other: all at once would hold members times samples of every network.
        targets = jax.lax.map(draw, jr.split(ahead.key, self.samples)).mean(axis=0)
        return Lowered.by(self.weight * targets.std(axis=0, ddof=min(1, len(targets) - 1)))


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
