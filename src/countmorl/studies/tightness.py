"""How fast the bounds on TV shrink, and how far they lie above what happens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.tabular import bounds


@dataclass(frozen=True, eq=False, kw_only=True)
class Shrinkage:
    """Bounds and measured errors at each count n."""

    counts: np.ndarray
    theorem: np.ndarray
    """Theorem 1 for a class of `models` models."""
    multinomial: np.ndarray
    all_pairs: np.ndarray
    """The multinomial bound shared among `pairs` pairs."""
    measured: np.ndarray
    """TV of the shares from the truth: its 1 - delta quantile over draws."""
    median: np.ndarray

    def slope(self, name: str) -> float:
        """Slope in log n of one column, where it is below 1: -1/2 means 1 / sqrt(n)."""
        values = getattr(self, name)
        inside = values < 1
        return float(np.polyfit(np.log(self.counts[inside]), np.log(values[inside]), 1)[0])


def shrinkage(
    *,
    outcomes: int = 4,
    models: int = 100,
    pairs: int = 256,
    delta: float = 0.05,
    draws: int = 2000,
    seed: int = 0,
) -> Shrinkage:
    """Measure the error of shares among `outcomes` equally likely outcomes, the hardest truth."""
    rng = np.random.default_rng(seed)
    counts = np.unique(np.round(10 ** np.linspace(0, 4, 17))).astype(int)
    truth = np.full(outcomes, 1 / outcomes)
    errors = np.stack(
        [0.5 * np.abs(rng.multinomial(n, truth, draws) / n - truth).sum(axis=1) for n in counts]
    )
    return Shrinkage(
        counts=counts,
        theorem=bounds.error_bound(counts, models=models, delta=delta),
        multinomial=bounds.multinomial_bound(counts, outcomes=outcomes, delta=delta),
        all_pairs=bounds.multinomial_bound(
            counts, outcomes=outcomes, delta=bounds.shared_delta(delta, pairs)
        ),
        measured=np.quantile(errors, 1 - delta, axis=1),
        median=np.median(errors, axis=1),
    )
