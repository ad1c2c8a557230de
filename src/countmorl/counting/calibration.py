"""Do counts predict the model's error? Theorem 1's claim, measured on held-out transitions."""

from __future__ import annotations

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, Real
from scipy.stats import mannwhitneyu, spearmanr

from countmorl.counting.base import AbstractCounter
from countmorl.counting.estimate import CountEstimate, Kind, unlike
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.runs.calibration import Bin, Calibration, Jolted, SwappedActions
from countmorl.runtime.levels import thin_below
from countmorl.scaling import Standardizer

BINS = 8
NOISE = (0.1, 0.3, 1.0)
"""Distances from the data, in deviations of each column."""
FAR = 0.9
"""How often a pair a whole deviation away must be told from the data for counts to be an alarm."""
LEVEL = 0.01


@eqx.filter_jit
def _errors(
    ensemble: Ensemble,
    counter: AbstractCounter,
    x: Float[Array, "rows inputs"],
    y: Float[Array, "rows targets"],
    scale: Float[Array, " targets"],
) -> tuple[Float[Array, " rows"], Int[Array, "members rows"]]:
    hidden = ensemble.trunks(x)
    mean, _ = jax.vmap(GaussianNet.head)(ensemble.elite_members, hidden)
    scaled = (mean - y) / scale
    return jnp.sqrt(jnp.mean(jnp.square(scaled), axis=(0, 2))), counter.counts(x, hidden)


def calibrate(
    ensemble: Ensemble,
    counter: AbstractCounter,
    x: Float[Array, "rows inputs"],
    y: Float[Array, "rows targets"],
    kind: Kind,
    alpha: float,
    *,
    actions: int,
) -> Calibration:
    """Compare held-out error with the estimated count, in bins and by rank correlation.

    The error of a row is the elites' root mean squared error, each target scaled by its
    deviation. A rank correlation below zero, beyond chance, means that counts predict error.
    The last `actions` columns of `x` are the action: counts are also compared with those of the
    same observations beside other rows' actions, which a useful counter has seen less.
    """
    scale = Standardizer.fit(np.asarray(y)).std
    error, counts = _errors(ensemble, counter, x, y, scale)
    swapped = jnp.concatenate([x[:, :-actions], jnp.roll(x[:, -actions:], len(x) // 2, 0)], axis=1)
    _, others = _errors(ensemble, counter, swapped, y, scale)
    count, other = (np.asarray(CountEstimate.of(c).count(kind, alpha)) for c in (counts, others))
    swapped = told_apart(count, other)
    jolts = tuple(
        jolted(ensemble, counter, x, of, noise, actions=actions)
        for of in ("actions", "observations")
        for noise in NOISE
    )
    plain = compare(count, np.asarray(error), swapped, rows_per_code=counter.rows_per_code)
    thin = thin_below(np.asarray(counts), count)
    return replace(plain, jolted=jolts, thin=thin, verdict=f"{plain.verdict} {alarm(jolts)}")


def jolted(
    ensemble: Ensemble,
    counter: AbstractCounter,
    x: Float[Array, "rows inputs"],
    of: str,
    noise: float,
    *,
    actions: int,
) -> Jolted:
    """Compare held-out pairs with the same pairs beside the data: noise on standardised columns."""
    columns = jnp.arange(x.shape[1]) >= x.shape[1] - actions
    moved = columns if of == "actions" else ~columns
    # The same noise at every distance: what differs is the distance.
    beside = x + noise * jnp.where(moved, jr.normal(jr.key(0), x.shape), 0.0)
    near, far = (np.asarray(_counts(ensemble, counter, rows)) for rows in (x, beside))
    return Jolted(
        of=of,
        noise=noise,
        median_count=float(np.median(far.mean(axis=0))),
        unseen=float((far == 0).all(axis=0).mean()),
        told_apart=unlike(far, near),
    )


@eqx.filter_jit
def _counts(
    ensemble: Ensemble, counter: AbstractCounter, x: Float[Array, "rows inputs"]
) -> Int[Array, "members rows"]:
    return counter.counts(x, ensemble.trunks(x))


def alarm(jolts: tuple[Jolted, ...]) -> str:
    """Say in a sentence whether counts notice pairs that lie beside the data."""
    shares = {each.of: 100 * each.told_apart for each in jolts if each.noise == NOISE[-1]}
    sure = all(each.told_apart >= FAR for each in jolts if each.noise == NOISE[-1])
    word = "can" if sure else "cannot"
    return (
        f"A deviation away from the data they tell pairs from held-out ones in "
        f"{shares['actions']:.0f} % of cases by the action and in {shares['observations']:.0f} % "
        f"by the observation, so they {word} be relied on as an alarm."
    )


def told_apart(
    count: Real[np.ndarray, " rows"], other: Real[np.ndarray, " others"]
) -> SwappedActions:
    """Compare the counts of logged pairs with those of others."""
    wins = mannwhitneyu(count, other).statistic / (len(count) * len(other))
    return SwappedActions(median_count=float(np.median(other)), told_apart=float(wins))


def compare(
    count: Real[np.ndarray, " rows"],
    error: Real[np.ndarray, " rows"],
    swapped: SwappedActions,
    *,
    rows_per_code: float | None = None,
) -> Calibration:
    """Bin errors by count and correlate their ranks."""
    varied = bool(count.min() < count.max())
    result = spearmanr(count, error) if varied else None
    correlation = float(result.statistic) if result else 0.0  # type: ignore[union-attr]
    chance = float(result.pvalue) if result else 1.0  # type: ignore[union-attr]
    works = correlation < 0 and chance < LEVEL
    edges = np.unique(np.quantile(count, np.linspace(0, 1, BINS + 1)))
    place = np.clip(np.searchsorted(edges, count, side="right") - 1, 0, max(0, len(edges) - 2))
    bins = tuple(
        Bin(
            count=float(count[place == b].mean()),
            error=float(error[place == b].mean()),
            error_se=float(error[place == b].std() / np.sqrt((place == b).sum())),
            rows=int((place == b).sum()),
        )
        for b in range(max(1, len(edges) - 1))
        if (place == b).any()
    )
    return Calibration(
        rank_correlation=correlation,
        p_value=chance,
        rows=len(count),
        median_count=float(np.median(count)),
        rows_per_code=rows_per_code,
        predicts_error=bool(works),
        verdict=_verdict(works, correlation, varied),
        bins=bins,
        swapped_actions=swapped,
    )


def _verdict(works: bool, correlation: float, varied: bool) -> str:
    if works:
        return f"Counts predict the model's error here (rank correlation {correlation:.2f})."
    if not varied:
        return "Every held-out pair has the same count, so counts say nothing about error here."
    return (
        f"Counts do not predict the model's error on this data (rank correlation "
        f"{correlation:.2f}), so they do not say where it errs within the data; whether they do "
        "where a policy leaves it, no held-out pair can tell."
    )
