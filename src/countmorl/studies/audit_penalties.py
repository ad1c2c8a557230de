"""Every penalty of the package at any pairs, and what the model predicts there."""

from __future__ import annotations

from collections.abc import Mapping
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
from countmorl.counting.fit import rebuilding_errors
from countmorl.counting.learned import CodeCounter
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.pessimism import Pairs as Seen
from countmorl.pessimism import SpreadPenalty, StdPenalty, disagreement

ROWS = 20_000
"""Logged pairs that the nearest is looked for among, and that decoders' errors are known of."""
LEVEL = 0.99
"""Share of the training rows whose decoder error is no reason for doubt."""

DEAREST = 1e6
"""What is added where a pair is dearer than any other."""


class Measured(NamedTuple):
    """What model and counter say of some pairs."""

    prediction: Float[Array, "pairs targets"]
    """The elites' mean: changes of the observation, and the reward, in the log's numbers."""
    penalties: dict[str, Float[Array, " pairs"]]
    unseen: Float[Array, " pairs"] | None
    """1 where no member has seen the pair."""


class Counted(eqx.Module):
    """A counter whose penalties are audited."""

    counter: AbstractCounter
    limits: Float[Array, " elites"] | None
    """Beyond this an elite's decoder is surprised; None where nothing is decoded."""
    label: str = eqx.field(static=True, default="")
    """What stands behind the names of its penalties."""

    @classmethod
    def of(
        cls,
        counter: AbstractCounter,
        ensemble: Ensemble,
        x: Float[Array, "rows inputs"],
        name: str,
    ) -> Counted:
        """Learn from the model's training rows what error of a decoder is common."""
        if not isinstance(counter, CodeCounter):
            return cls(counter, None, name)
        errors = rebuilding_errors(ensemble, counter.autoencoders, x[:: _every(x)])
        limits = jnp.asarray(np.quantile(np.asarray(errors), LEVEL, axis=1), jnp.float32)
        # Plain counts are wanted beside verified ones, also of a run that verifies.
        plain = CodeCounter(autoencoders=counter.autoencoders, tables=counter.tables)
        return cls(plain, limits, name)

    def penalties(
        self, x: Array, hidden: Array, alpha: float, spread: Array
    ) -> tuple[dict[str, Array], Array]:
        """Penalties by name, and which pairs no member has seen."""
        counts = self.counter.counts(x, hidden)
        estimate = CountEstimate.of(counts)
        found = {
            f"counts {kind}": count_penalty(estimate.count(kind, alpha), 1.0)  # type: ignore[arg-type]
            for kind in SIGNS
        }
        found["counts each"] = _each(counts)
        if isinstance(self.counter, CodeCounter) and self.limits is not None:
            errors = jax.vmap(Autoencoder.error, (0, 0, None))(self.counter.autoencoders, hidden, x)
            trusted = jnp.where(errors <= self.limits[:, None], counts, jnp.zeros_like(counts))
            unknown = 2 * (trusted == 0).sum(axis=0) > len(trusted)
            found["counts verified"] = _each(trusted)
            found["spread, dearest where unverified"] = jnp.where(unknown, DEAREST + spread, spread)
            found["decoder error"] = errors.mean(axis=0)
        return {name + self.label: each for name, each in found.items()}, (counts == 0).all(axis=0)


class Judge(eqx.Module):
    """All penalties in one program."""

    ensemble: Ensemble
    scale: Float[Array, " targets"]
    """Deviations of the model's standardised targets, as RepB-SDE takes them."""
    counted: tuple[Counted, ...]
    """The run's own counter first."""
    alpha: float = eqx.field(static=True)

    @classmethod
    def of(
        cls,
        ensemble: Ensemble,
        counters: Mapping[str, AbstractCounter],
        alpha: float,
        x: Float[Array, "rows inputs"],
        scale: Float[Array, " targets"],
    ) -> Judge:
        """Judge by counters, each with a label, and by the model; `x` are its training rows."""
        counted = (Counted.of(each, ensemble, x, label) for label, each in counters.items())
        return cls(ensemble, scale, tuple(counted), alpha)

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
        by_model = self._by_model(x, hidden, heads)
        penalties, unseen = {}, None
        for each in self.counted:
            found, never = each.penalties(x, hidden, self.alpha, by_model["elites' spread"])
            penalties |= found
            unseen = never.astype(jnp.float32) if unseen is None else unseen
        prediction = self.ensemble.targets.invert(heads.mean(axis=0))
        return Measured(prediction, penalties | by_model, unseen)

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


def _every(x: Float[Array, "rows inputs"]) -> int:
    return -(-len(x) // ROWS)


def distance(
    x: Float[Array, "rows inputs"], pairs: Float[Array, "pairs inputs"]
) -> Float[np.ndarray, " pairs"]:
    """How far the nearest logged pair is, in deviations of each column."""
    found, _ = KDTree(np.asarray(x)[:: _every(x)]).query(np.asarray(pairs))
    return np.asarray(found, np.float64)
