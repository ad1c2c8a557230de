"""From the members' counts to one count, and from a count to a penalty."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num
from scipy.stats import mannwhitneyu

from countmorl.errors import ConfigError
from countmorl.runtime.levels import SIGNS, EstimateKind, Join
from countmorl.runtime.levels import mostly_unseen as mostly_unseen

Kind = EstimateKind


class CountEstimate(eqx.Module):
    """Mean and deviation of the members' counts of each pair (Algorithm 2)."""

    mean: Float[Array, "*batch"]
    deviation: Float[Array, "*batch"]

    @classmethod
    def of(cls, counts: Num[Array, "members *batch"]) -> "CountEstimate":
        """The deviation divides by N - 1, as the paper does; one member alone deviates by 0."""
        counts = counts.astype(jnp.float32)
        mean = counts.mean(axis=0)
        spread = jnp.sum(jnp.square(counts - mean), axis=0) / max(1, len(counts) - 1)
        return cls(mean, jnp.sqrt(spread))

    def count(self, kind: Kind, alpha: float) -> Float[Array, "*batch"]:
        """LC: mean - alpha deviation; AVG: mean; UC: mean + alpha deviation (Algorithm 2)."""
        if kind not in SIGNS:
            raise ConfigError(f"`estimate` must be LC, AVG or UC, got {kind!r}.")
        return self.mean + SIGNS[kind] * alpha * self.deviation


def count_penalty(count: Float[Array, "*batch"], beta: float) -> Float[Array, "*batch"]:
    """beta min(1, 1 / sqrt(n)), and beta where n <= 0 (Algorithm 1, capped as Corollary 1 is).

    As printed, Algorithm 1 would punish a pair with 0 < n < 1, seen by some members only, more
    than a pair that was never seen.
    """
    return beta / jnp.sqrt(jnp.maximum(count, 1.0))


def members_penalty(
    counts: Num[Array, "members *batch"], kind: Kind, alpha: float, beta: float, join: Join
) -> Float[Array, "*batch"]:
    """What a pair costs, by the members' counts.

    Joined by `counts`: the penalty of the estimated count, as in the paper. Joined by `penalties`:
    beta times the mean of min(1, 1 / sqrt(n_i)), or alpha deviations above (LC) or below (UC) it,
    from 0 to beta. A mean of counts hides members that never saw a pair behind one that shares a
    crowded code with it; a mean of penalties does not.
    """
    if join == "counts":
        return count_penalty(CountEstimate.of(counts).count(kind, alpha), beta)
    each = CountEstimate.of(count_penalty(counts.astype(jnp.float32), 1.0))
    # Few counts are dear: the lower count is the higher penalty.
    return beta * jnp.clip(each.mean - SIGNS[kind] * alpha * each.deviation, 0.0, 1.0)


def by_most(
    votes: Bool[Array | np.ndarray, "members *batch"],
) -> Bool[Array | np.ndarray, "*batch"]:
    """Whether more than half of the members say so."""
    return 2 * votes.sum(axis=0) > len(votes)


def unlike(far: Int[np.ndarray, "members rows"], near: Int[np.ndarray, "members others"]) -> float:
    """How often a pair of `far` costs more than one of `near`: the area under the curve.

    A pair costs the mean of its members' penalties; a half is chance.
    """
    costs = [np.mean(1 / np.sqrt(np.maximum(1, counts)), axis=0) for counts in (far, near)]
    return float(mannwhitneyu(*costs).statistic / (len(costs[0]) * len(costs[1])))
