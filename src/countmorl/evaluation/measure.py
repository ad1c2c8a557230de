"""What a policy earns, as one number: rewards added up with a discount, or over a horizon."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.errors import ConfigError

DISCOUNT = 0.995
"""What learners discount by where nothing else is said."""
LEFT = 0.01
"""Weight of a step at which the discount's end is reached."""
SHARE = 3.0
"""A logged episode is to be so many times as long as the discount looks ahead."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """V = sum over t of discount^t r_t; to the end of the task, or over `horizon` steps."""

    discount: float = DISCOUNT
    horizon: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.discount <= 1:
            raise ConfigError(f"`discount` must be above 0 and at most 1, got {self.discount:g}.")
        if self.horizon is not None and self.horizon < 1:
            raise ConfigError(f"`horizon` must be at least 1, got {self.horizon}.")
        if self.discount == 1 and self.horizon is None:
            raise ConfigError("A sum without a discount needs an end: give a `horizon` of steps.")

    @classmethod
    def of(
        cls, dataset: Dataset, *, discount: float | None = None, horizon: int | None = None
    ) -> Measure:
        """A measure for a log. A horizon alone means a plain sum.

        The default discount looks ahead a third of the longest episode where there is a time
        limit: what lies beyond the log's own ends is then next to nothing.
        """
        if discount is not None or horizon is not None:
            return cls(discount=1.0 if discount is None else discount, horizon=horizon)
        lengths = np.diff(dataset.episode_ends, prepend=-1)
        cut = ~dataset.terminated[dataset.episode_ends]
        # Of many episodes that ended, the last alone was cut where the recording stopped.
        limited = cut[:-1].any() if len(cut) > 1 else cut.any()
        longest = int(lengths.max()) if limited else 10**6
        return cls(discount=min(DISCOUNT, max(0.5, 1 - SHARE / longest)))

    @property
    def unit(self) -> str:
        """What values count."""
        if self.horizon is None:
            return f"discounted return ({self.discount:g})"
        rest = "" if self.discount == 1 else f", discounted ({self.discount:g})"
        return f"sum over {self.horizon} steps{rest}"

    @property
    def steps(self) -> int:
        """Steps after which nothing more counts."""
        if self.horizon is not None:
            return self.horizon
        return max(1, math.ceil(math.log(LEFT) / math.log(self.discount)))

    @property
    def weights(self) -> np.ndarray:
        """The weight of each of those steps."""
        return self.discount ** np.arange(self.steps, dtype=np.float64)

    def rest(self, step: int | np.ndarray) -> np.ndarray | np.floating:
        """Sum of all weights from a step on, those beyond the discount's end included."""
        step = np.asarray(step, np.float64)
        if self.discount == 1:
            return np.maximum(0.0, self.steps - step)
        last = 0.0 if self.horizon is None else self.discount**self.horizon
        return np.maximum(0.0, (self.discount**step - last) / (1 - self.discount))

    def earned(self, dataset: Dataset) -> Earned:
        """What every episode earned from its first step on."""
        lengths = np.diff(dataset.episode_ends, prepend=-1)
        place = np.arange(len(dataset)) - np.repeat(dataset.episode_ends - lengths + 1, lengths)
        counted = place < self.steps
        weights = np.where(counted, self.discount ** np.minimum(place, self.steps), 0.0)
        totals = np.cumsum(weights * dataset.reward.astype(np.float64))[dataset.episode_ends]
        values = np.diff(totals, prepend=0.0)
        # Beyond the last step that is added up the discount leaves a little, for all alike.
        beyond = self.rest(np.minimum(lengths, self.steps))
        beyond = np.where(
            dataset.terminated[dataset.episode_ends] & (lengths <= self.steps), 0.0, beyond
        )
        return Earned(values=values + beyond * usual_reward(dataset, self), beyond=beyond)


@dataclass(frozen=True, eq=False, kw_only=True)
class Earned:
    """What each episode of a log earned."""

    values: np.ndarray
    """With what it would have gone on to earn, at the log's usual rate, where it was cut."""
    beyond: np.ndarray
    """The weight of the steps after its cut."""


def usual_reward(dataset: Dataset, measure: Measure) -> float:
    """The reward of a step, typically, lowered by the chance that the task ends."""
    mean = float(dataset.reward.mean(dtype=np.float64))
    ends = float(dataset.terminated.mean(dtype=np.float64))
    if measure.discount == 1 or not ends:
        return mean
    # V = r + gamma (1 - d) V in the data's means, spread over the weights of all steps.
    return mean * (1 - measure.discount) / (1 - measure.discount * (1 - ends))
