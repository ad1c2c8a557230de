"""From audited pairs to numbers: rank correlations, AUC, medians, rewards that are not there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import mannwhitneyu, spearmanr

from countmorl.errors import RunError

WORST = 0.1
"""Share of the pairs whose error a penalty should point out."""
STEPS = (1, 2, 5, 10, 20, 50, 100, 1000)
"""Last steps of the groups in which steps are told apart."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How well a penalty's order is the order of the true errors."""

    rank_correlation: float | None
    """Spearman's; None where one of the two never varies."""
    auc: float | None
    """Chance that a pair of the worst tenth has a higher penalty than another pair."""

    @classmethod
    def of(cls, penalty: np.ndarray, error: np.ndarray) -> Agreement:
        """Compare two columns."""
        bad = error >= np.quantile(error, 1 - WORST) if len(error) else np.zeros(0, bool)
        if bad.all() or np.ptp(penalty) == 0 or np.ptp(error) == 0:
            return cls(rank_correlation=None, auc=None)
        wins = mannwhitneyu(penalty[bad], penalty[~bad], method="asymptotic").statistic
        correlation = float(spearmanr(penalty, error).statistic)  # type: ignore[union-attr]
        auc = float(wins) / (int(bad.sum()) * int((~bad).sum()))
        return cls(rank_correlation=correlation if math.isfinite(correlation) else None, auc=auc)


@dataclass(frozen=True, kw_only=True)
class PenaltyFacts:
    """One penalty over all pairs, by policy, and by step of the rollout."""

    name: str
    overall: Agreement
    by_policy: dict[str, Agreement]
    by_step: dict[str, Agreement]
    medians: dict[str, float]
    """By policy."""


@dataclass(frozen=True, kw_only=True)
class PolicyFacts:
    """Where one policy went in the model."""

    name: str
    pairs: int
    error: float
    """Median of the true errors."""
    reward_gap: float
    """Imagined less true reward of a step, on average."""
    reward_gap_by_step: dict[str, float]
    unseen: float | None
    """Share of the pairs that no member has seen; None where nothing counts."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an audit of one run has found over rollouts of so many steps."""

    run: str
    task: str
    horizon: int
    starts: int
    pairs: int = 0
    penalties: tuple[PenaltyFacts, ...] = field(default=())
    policies: tuple[PolicyFacts, ...] = field(default=())


@dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """Audited pairs, one entry of every column for each."""

    policy: np.ndarray
    step: np.ndarray
    """Of the rollout, from 1 on."""
    error: np.ndarray
    reward_gap: np.ndarray
    unseen: np.ndarray | None
    penalties: Mapping[str, np.ndarray]

    def where(self, keep: np.ndarray) -> Sample:
        """Some of the pairs."""
        return replace(
            self,
            policy=self.policy[keep],
            step=self.step[keep],
            error=self.error[keep],
            reward_gap=self.reward_gap[keep],
            unseen=None if self.unseen is None else self.unseen[keep],
            penalties={name: values[keep] for name, values in self.penalties.items()},
        )

    def until(self, horizon: int) -> Sample:
        """The first steps of every rollout."""
        return self.where(self.step <= horizon)

    @classmethod
    def join(cls, parts: list[Sample]) -> Sample:
        """Put the policies' pairs together."""
        unseen = [part.unseen for part in parts if part.unseen is not None]
        return cls(
            policy=np.concatenate([part.policy for part in parts]),
            step=np.concatenate([part.step for part in parts]),
            error=np.concatenate([part.error for part in parts]),
            reward_gap=np.concatenate([part.reward_gap for part in parts]),
            unseen=np.concatenate(unseen) if unseen else None,
            penalties={
                name: np.concatenate([part.penalties[name] for part in parts])
                for name in parts[0].penalties
            },
        )


def summed_up(about: Audit, sample: Sample) -> Audit:
    """Fill in what a sample says."""
    if not len(sample.error):
        raise RunError(f"No pair that was imagined in {about.run} could be simulated.")
    policies = {str(n): sample.policy == n for n in dict.fromkeys(sample.policy)}
    steps = step_groups(sample.step)
    return replace(
        about,
        pairs=len(sample.error),
        penalties=tuple(
            PenaltyFacts(
                name=name,
                overall=Agreement.of(values, sample.error),
                by_policy=_agreements(values, sample.error, policies),
                by_step=_agreements(values, sample.error, steps),
                medians={n: float(np.median(values[rows])) for n, rows in policies.items()},
            )
            for name, values in sample.penalties.items()
        ),
        policies=tuple(_policy(name, sample.where(rows)) for name, rows in policies.items()),
    )


def step_groups(step: np.ndarray) -> dict[str, np.ndarray]:
    """Rows by steps of the rollout: 1, 2, 3-5, 6-10 and so on, as far as there are such."""
    found, first = {}, 1
    for last in STEPS:
        rows = (first <= step) & (step <= last)
        if rows.any():
            found[str(last) if first == last else f"{first}-{last}"] = rows
        first = last + 1
    return found


def _agreements(
    values: np.ndarray, error: np.ndarray, groups: dict[str, np.ndarray]
) -> dict[str, Agreement]:
    return {name: Agreement.of(values[rows], error[rows]) for name, rows in groups.items()}


def _policy(name: str, own: Sample) -> PolicyFacts:
    groups = step_groups(own.step)
    return PolicyFacts(
        name=name,
        pairs=len(own.error),
        error=float(np.median(own.error)),
        reward_gap=float(own.reward_gap.mean()),
        reward_gap_by_step={g: float(own.reward_gap[rows].mean()) for g, rows in groups.items()},
        unseen=None if own.unseen is None else float(own.unseen.mean()),
    )
