"""Every penalty of the package at any pairs, and what the model predicts there."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.spatial import KDTree

from countmorl import trees
from countmorl.counting.base import AbstractCounter
from countmorl.counting.codes import Autoencoder
from countmorl.counting.estimate import SIGNS, CountEstimate, count_penalty
from countmorl.counting.learned import CodeCounter
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.pessimism import Pairs as Seen
from countmorl.pessimism import SpreadPenalty, StdPenalty, disagreement

ROWS = 20_000
"""Logged pairs that the nearest is looked for among, and that decoders' errors are known of."""
LEVEL = 0.99
"""Share of the training rows whose decoder error is no reason for doubt."""


class Measured(NamedTuple):
    """What model and counter say of some pairs."""

    prediction: Float[Array, "pairs targets"]
    """The elites' mean: changes of the observation, and the reward, in the log's numbers."""
    penalties: dict[str, Float[Array, " pairs"]]
    unseen: Float[Array, " pairs"] | None
    """1 where no member has seen the pair."""


class Judge(eqx.Module):
    """All penalties in one program."""

    ensemble: Ensemble
    scale: Float[Array, " targets"]
    """Deviations of the model's standardised targets, as RepB-SDE takes them."""
    counter: AbstractCounter | None
    alpha: float = eqx.field(static=True)
    limits: Float[Array, " elites"] | None = None
    """Beyond this an elite's decoder is surprised."""

    @classmethod
    def of(
        cls,
        ensemble: Ensemble,
        counter: AbstractCounter | None,
        alpha: float,
        x: Float[Array, "rows inputs"],
        scale: Float[Array, " targets"],
    ) -> Judge:
        """Learn from the model's training rows what error of a decoder is common."""
        limits = None
        if isinstance(counter, CodeCounter):
            errors = _decoder_errors(ensemble, counter.autoencoders, x[:: _every(x)])
            limits = jnp.asarray(np.quantile(np.asarray(errors), LEVEL, axis=1), jnp.float32)
        return cls(ensemble, scale, counter, alpha, limits)

    @eqx.filter_jit
    def __call__(
        self, obs: Float[Array, "pairs obs"], action: Float[Array, "pairs action"]
    ) -> Measured:
        """Judge pairs, actions in [-1, 1]."""
        x = self.ensemble.standardize(obs, action)
        return trees.in_blocks(lambda rows, _: self._block(rows), x)

    def _block(self, x: Float[Array, "pairs inputs"]) -> Measured:
        hidden = self.ensemble.trunks(x)
        heads, _ = jax.vmap(GaussianNet.head)(self.ensemble.elite_members, hidden)
        penalties = self._by_model(x, hidden, heads)
        unseen = None
        if self.counter is not None:
            counts = self.counter.counts(x, hidden)
            unseen = (counts == 0).all(axis=0).astype(jnp.float32)
            penalties = self._by_counts(x, hidden, counts) | penalties
        return Measured(self.ensemble.targets.invert(heads.mean(axis=0)), penalties, unseen)

    def _by_counts(self, x: Array, hidden: Array, counts: Array) -> dict[str, Array]:
        estimate = CountEstimate.of(counts)
        found = {
            f"counts {kind}": count_penalty(estimate.count(kind, self.alpha), 1.0)  # type: ignore[arg-type]
            for kind in SIGNS
        }
        found["counts each"] = _each(counts)
        if isinstance(self.counter, CodeCounter) and self.limits is not None:
            errors = decoder_error(self.counter.autoencoders, x, hidden)
            trusted = errors <= self.limits[:, None]
            found["counts verified"] = _each(jnp.where(trusted, counts, jnp.zeros_like(counts)))
            found["decoder error"] = errors.mean(axis=0)
        return found

    def _by_model(self, x: Array, hidden: Array, heads: Array) -> dict[str, Array]:
        mean, log_var = self.ensemble.predict(x)
        kinds = ("max_std", "mean_spread", "ensemble_std")
        found = {f"MOPO {kind}": StdPenalty(1.0, kind).doubt(mean, log_var) for kind in kinds}
        found["MOReL disagreement"] = disagreement(self.ensemble, x)
        spread = SpreadPenalty(self.scale, 1.0)
        found["RepB-SDE spread"] = spread(Seen(self.ensemble, x, hidden)).penalty
        apart = heads.std(axis=0) / self.scale
        return found | {"elites' spread": jnp.sqrt(jnp.mean(jnp.square(apart), axis=-1))}


def _each(counts: Array) -> Float[Array, " pairs"]:
    """Every member's own penalty, then their mean."""
    return count_penalty(counts.astype(jnp.float32), 1.0).mean(axis=0)


def decoder_error(
    autoencoders: Autoencoder,
    x: Float[Array, "pairs inputs"],
    hidden: Float[Array, "elites pairs hidden"],
) -> Float[Array, "elites pairs"]:
    """Root mean square of what each decoder makes of a pair's bottleneck, less the pair."""

    def one(each: Autoencoder, features: Array) -> Array:
        decoded = each.decoder(jax.nn.sigmoid(each.logits(features)))
        return jnp.sqrt(jnp.mean(jnp.square(decoded - x), axis=-1))

    return jax.vmap(one)(autoencoders, hidden)


@eqx.filter_jit
def _decoder_errors(ensemble: Ensemble, autoencoders: Autoencoder, x: Array) -> Array:
    def one(rows: Array, _: Array) -> Array:
        return decoder_error(autoencoders, rows, ensemble.trunks(rows))

    return trees.in_blocks(one, x, axis=1)


def _every(x: Float[Array, "rows inputs"]) -> int:
    return -(-len(x) // ROWS)


def distance(
    x: Float[Array, "rows inputs"], pairs: Float[Array, "pairs inputs"]
) -> Float[np.ndarray, " pairs"]:
    """How far the nearest logged pair is, in deviations of each column."""
    found, _ = KDTree(np.asarray(x)[:: _every(x)]).query(np.asarray(pairs))
    return np.asarray(found, np.float64)
