"""A cheap judge for while a policy trains: what the log alone says it is worth, in seconds.

Small critics of the policy and of the log's own next actions are fitted to the episodes that were
set aside, as `countmorl.evaluation.fqe` does, with the same random numbers each time. Where the
policy does what was never tried, critics only extrapolate: that share of its way is taken to be as
bad as the log's worst. It ranks the policies of one run; whether one is better than the log is for
`countmorl judge` to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.holdout import split
from countmorl.data.rates import worst_rate
from countmorl.errors import DataError
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate
from countmorl.evaluation.bench import SAMPLE, judging_rows
from countmorl.evaluation.clone import cloned
from countmorl.evaluation.fqe import Fitted, FQEConfig, fit_q, interval
from countmorl.evaluation.judging import discount_of
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.support import Support
from countmorl.runs.manifest import Manifest
from countmorl.runtime.base import PolicyLike, Sized

SMALL = FQEConfig(hidden=(64, 64), updates=300, least=10, most=10)
"""Critics that take seconds: they need not have settled to be compared."""
CLONE_UPDATES = 1000
"""Updates of the clone that tells what is done after a logged episode was cut."""
MADE_BY = "small critics fitted to the episodes that were set aside"


@dataclass(frozen=True, eq=False, kw_only=True)
class OfflineJudge:
    """Ranks the policies of one run by the log alone. The same policy, the same value."""

    logged: Logged
    support: Support
    measure: Measure
    log_fit: Fitted
    """Critics of the log's own next actions."""
    most_lost: float
    """What a policy loses that goes where the log never was: all but the log's worst."""
    most: float
    """No gain is larger, whatever critics say that have diverged."""
    config: FQEConfig
    seed: int

    @classmethod
    def of(
        cls, dataset: Dataset, manifest: Manifest, *, config: FQEConfig | None = None
    ) -> OfflineJudge:
        """Fit what all policies of a run are judged by."""
        origin, seed, config = manifest.data, manifest.options.seed, config or SMALL
        taught, judged = split(dataset, origin.holdout if origin else None)
        if not dataset.next_known.any():
            raise DataError(f"'{dataset.name}' has no row whose next observation is known.")
        logged, _, _ = judging_rows(dataset, judged)
        measure = Measure(discount=discount_of(manifest, dataset))
        clone = cloned(taught, updates=CLONE_UPDATES, seed=seed)
        ahead = logged.next_actions(Actor(name="clone", act=clone.act, space=dataset.space))
        done = logged.actions[logged.starts]
        rest = float(measure.rest(0))
        log = float(measure.earned(dataset).values.mean())
        worst = worst_rate(dataset) * rest
        if dataset.terminated.any():
            worst = min(worst, 0.0)
        return cls(
            logged=logged,
            support=Support.of(taught, judged, seed=seed),
            measure=measure,
            log_fit=fit_q(logged, ahead, done, measure, config=config, seed=seed),
            most_lost=max(0.0, log - worst),
            most=2 * float(np.abs(dataset.reward).max()) * rest,
            config=config,
            seed=seed,
        )

    def check(self, policy: Sized, name: str) -> None:
        """Raise where a policy has other sizes than the log."""
        data = self.logged.dataset
        if (policy.obs_dim, policy.action_dim) != (data.obs_dim, data.action_dim):
            raise DataError(f"{name} has other sizes than '{data.name}'.")

    def __call__(self, policy: PolicyLike, *, seed: int) -> Estimate:
        """The lower end of the gain on the log; `seed` is not used, so that policies compare."""
        data = self.logged.dataset
        actor = Actor.of(policy, data)
        fitted = fit_q(
            self.logged,
            actor(data.next_obs),
            actor(data.obs[self.logged.starts]),
            self.measure,
            config=self.config,
            seed=self.seed,
        )
        unseen = self._unseen(actor)
        gains = np.clip(
            np.nan_to_num(fitted.values - self.log_fit.values, nan=-self.most),
            -self.most,
            self.most,
        )
        low, high = interval(gains)
        lost = unseen * self.most_lost
        return Estimate(
            value=low - lost,
            interval=(low - lost, high),
            unit=f"gain on the log, {self.measure.unit}",
            made_by=MADE_BY,
            facts={"judged_unseen": unseen},
        )

    def _unseen(self, actor: Actor) -> float:
        obs = self.logged.dataset.obs
        pick = np.random.default_rng(self.seed).permutation(len(obs))[:SAMPLE]
        return float((self.support.counts(obs[pick], actor(obs[pick])) == 0).mean())
