"""How often does a monitor raise a false alarm, and does it notice drifts? By logs held back.

A log is cut in two by chance, episode by episode. One half is a training's: its baseline is made.
Of the other half small logs are drawn, as they are and with a drift, and put to the monitor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from countmorl.data.batches import Batch
from countmorl.data.dataset import Dataset
from countmorl.errors import DataError
from countmorl.monitoring.baseline import Baseline
from countmorl.monitoring.monitor import MOVED, SHARE, Today, extremes, weighed
from countmorl.monitoring.tally import Tally, starts_of
from countmorl.monitoring.training import batch_of, made_of
from countmorl.monitoring.watched import Count, watch
from countmorl.progress import count_progress

ASIDE = 0.1
"""Share of the training's episodes that no training sees."""
Drift = Callable[[Batch, np.ndarray], Batch]
"""Change a log; the deviation of each number of an observation is at hand."""


def _seen(batch: Batch, change: Callable[[np.ndarray], np.ndarray]) -> Batch:
    """Change the first number of the observations, before and after each step."""
    obs, after = batch.obs.copy(), batch.next_obs.copy()
    obs[:, 0], after[:, 0] = change(obs[:, 0]), change(after[:, 0])
    return replace(batch, obs=obs, next_obs=after)


def _done(batch: Batch, _: np.ndarray) -> Batch:
    """Actions half as far again from their middle: another range; choices, turned by one."""
    if set(np.unique(batch.action)) <= {0.0, 1.0}:
        return replace(batch, action=np.roll(batch.action, 1, axis=1))
    middle = np.median(batch.action, axis=0)
    return replace(batch, action=(middle + 1.5 * (batch.action - middle)).astype(np.float32))


def _dynamics(batch: Batch, _: np.ndarray) -> Batch:
    after = batch.next_obs.copy()
    after[:, 0] = batch.obs[:, 0] + 1.5 * (after[:, 0] - batch.obs[:, 0])
    return replace(batch, next_obs=after)


DRIFTS: dict[str, Drift] = {
    "none": lambda batch, _: batch,
    "one column x 1000": lambda batch, _: _seen(batch, lambda x: 1000 * x),
    "one column + 1 deviation": lambda batch, std: _seen(batch, lambda x: x + std[0]),
    "one column + 0.3 deviations": lambda batch, std: _seen(batch, lambda x: x + 0.3 * std[0]),
    "actions x 1.5": _done,
    "one column changes by 1.5 times as much": _dynamics,
    "rewards - 0.5 deviations": lambda batch, _: replace(
        batch, reward=batch.reward - np.float32(0.5 * batch.reward.std())
    ),
}
"""What may have happened to a log. The last three leave what is seen as it was."""


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How many of the logs raised an alarm."""

    drift: str
    episodes: int
    false_alarms: float
    """What was asked for."""
    alarms: float
    logs: int


def alarm_rates(
    dataset: Dataset,
    *,
    sizes: Sequence[int] = (1, 5, 20),
    asked: Sequence[float] = (0.01, 0.05),
    splits: int = 5,
    logs: int = 200,
    drifts: Sequence[str] = tuple(DRIFTS),
    seed: int = 0,
) -> list[Rate]:
    """Cut a log in two `splits` times, and draw so many logs of each size each time."""
    count = len(dataset.episode_ends)
    if count < 4 * max(sizes):
        raise DataError(
            f"'{dataset.name}' has {count} episodes; logs of {max(sizes)} want {4 * max(sizes)}."
        )
    found: dict[tuple[str, int, float], list[bool]] = {}
    with count_progress("alarms", splits * len(drifts)) as tell:
        for split in range(splits):
            rng = np.random.default_rng([seed, split])
            fresh = rng.random(count) < 0.5
            taught, rest = dataset.of_episodes(~fresh), dataset.of_episodes(fresh)
            held = rng.random(len(taught.episode_ends)) < ASIDE
            drawn = _Drawn(made_of(taught, held), rest)
            for drift in drifts:
                for key, alarms in drawn.alarms(drift, sizes, asked, logs, rng).items():
                    found.setdefault((drift, *key), []).extend(alarms)
                tell(1)
    return [
        Rate(drift=d, episodes=m, false_alarms=a, alarms=float(np.mean(each)), logs=len(each))
        for (d, m, a), each in found.items()
    ]


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Logs drawn of what was held back, put to the monitor."""

    baseline: Baseline
    rest: Dataset

    def alarms(
        self,
        drift: str,
        sizes: Sequence[int],
        asked: Sequence[float],
        logs: int,
        rng: np.random.Generator,
    ) -> dict[tuple[int, float], list[bool]]:
        """Whether each log raises an alarm, by its size and what was asked for."""
        whole = batch_of(self.rest, np.arange(len(self.rest)))
        parts = _Parts.of(self.baseline, DRIFTS[drift](whole, self.rest.obs.std(axis=0)))
        found: dict[tuple[int, float], list[bool]] = {}
        for size in sizes:
            for _ in range(logs):
                today = parts.today(self.baseline, rng.choice(len(parts.tally), size, False))
                chance = self.baseline.pool.by_chance(today.units)
                farthest = weighed(today, chance)[2].max()
                for level in asked:
                    beyond = farthest > chance.limit(level * MOVED)
                    beyond |= bool(extremes(today, level * SHARE))
                    found.setdefault((size, level), []).append(bool(beyond))
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class _Parts:
    """What each episode of a log adds to a monitor's sums."""

    tally: Tally
    above: np.ndarray
    below: np.ndarray

    @classmethod
    def of(cls, baseline: Baseline, batch: Batch, count: Count | None = None) -> _Parts:
        values = watch(batch, baseline.form, baseline.foretold, count)
        starts = starts_of(batch.episode)
        with np.errstate(invalid="ignore"):
            above = np.fmax.reduceat(values, starts, axis=0) > baseline.high
            below = np.fmin.reduceat(values, starts, axis=0) < baseline.low
        tally = Tally.of(values, starts, baseline.pool.edges, batch.reward)
        return cls(tally=tally, above=above, below=below)

    def today(self, baseline: Baseline, chosen: np.ndarray) -> Today:
        """Some of the episodes as a log of their own."""
        today = Today(baseline)
        today.pieces, today.episodes = self.tally.some(chosen), len(chosen)
        today.above, today.below = self.above[chosen].sum(axis=0), self.below[chosen].sum(axis=0)
        return today
