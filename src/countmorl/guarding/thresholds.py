"""Thresholds that come from the log: counts below which so many of its own pairs lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.runtime.base import PolicyLike
from countmorl.runtime.guard import Guard, GuardSettings
from countmorl.runtime.levels import CountsPairs

QUANTILES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Shares of held-out pairs below a threshold: what guarding the log's own behaviour would cost."""
SAMPLE = 5_000
"""Held-out rows that are counted."""
LEAST = 1.0
"""The lowest threshold: whatever most members never saw is below it."""
EASE = 2.0
"""A policy acts again at the count that so many times as many held-out pairs lie below."""


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOut:
    """Held-out pairs and their counts, by which thresholds are named."""

    obs: np.ndarray
    count: np.ndarray
    """0 where most members never saw a pair, as the guard has it."""

    @classmethod
    def of(cls, dataset: Dataset, counts: CountsPairs, *, seed: int = 0) -> HeldOut:
        """Count some rows of what was set aside."""
        rows = np.random.default_rng(seed).permutation(len(dataset))[:SAMPLE]
        obs = dataset.obs[rows]
        return cls(obs=obs, count=seen(counts, obs, dataset.action[rows]))

    def threshold(self, quantile: float) -> float:
        """The count that this share of the held-out pairs lie below."""
        return max(LEAST, float(np.quantile(self.count, quantile)))

    def settings(self, quantile: float, **more: object) -> GuardSettings:
        """A guard's settings at a quantile."""
        release = self.threshold(min(0.5, EASE * quantile))
        threshold = self.threshold(quantile)
        return GuardSettings(threshold=threshold, release=max(release, threshold), **more)  # type: ignore[arg-type]

    def below(self, threshold: float) -> float:
        """Share of the log's own held-out pairs below a threshold."""
        return float((self.count < threshold).mean())

    def policy_below(self, guard: Guard) -> float:
        """Share of the policy's actions at held-out states that a guard does not take."""
        count = seen(guard.counts, self.obs, acted(guard.policy, self.obs))
        return float((count < guard.settings.threshold).mean())


def seen(counts: CountsPairs, obs: np.ndarray, action: np.ndarray) -> np.ndarray:
    """Counts as a guard compares them: 0 where most members never saw the pair."""
    found = counts.counts(obs, action)
    return np.where(found.level == "unseen", 0.0, found.count)


def acted(policy: PolicyLike, obs: np.ndarray) -> np.ndarray:
    """A policy's actions."""
    return np.asarray(policy.act(obs))
