"""Where a policy goes in a model: its imagined pairs by step, and how often each was logged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from countmorl.evaluation.acting import Actor
from countmorl.evaluation.stepping import Stepper
from countmorl.runtime.levels import LEVELS, CountsPairs

UNSEEN, THIN, COVERED = range(len(LEVELS))


@dataclass(frozen=True, eq=False, kw_only=True)
class Imagined:
    """Imagined pairs, [steps, rollouts]; those that are not alive are no pairs."""

    obs: np.ndarray
    action: np.ndarray
    """As the log has them; discrete ones one-hot."""
    reward: np.ndarray
    alive: np.ndarray
    count: np.ndarray
    level: np.ndarray
    """The number of each pair's level: 0 unseen, 1 thin, 2 covered."""

    @property
    def shares(self) -> np.ndarray:
        """Shares of the pairs alive that are unseen, thin and covered, [steps, 3]."""
        each = np.stack([(self.level == level) & self.alive for level in range(len(LEVELS))], -1)
        return each.sum(axis=1) / np.maximum(1, self.alive.sum(axis=1))[:, None]

    @property
    def whole(self) -> np.ndarray:
        """The same shares of all pairs together, [3]."""
        return np.bincount(self.level[self.alive], minlength=len(LEVELS)) / max(1, self.alive.sum())

    @property
    def left(self) -> tuple[np.ndarray, np.ndarray]:
        """Which rollouts came to an unseen pair, and at which step each of them first did."""
        out = (self.level == UNSEEN) & self.alive
        gone = np.flatnonzero(out.any(axis=0))
        return gone, out[:, gone].argmax(axis=0)

    def to_go(self, discount: float) -> np.ndarray:
        """What each pair earns from there on in its rollout, [steps, rollouts]."""
        found, ahead = np.zeros(self.reward.shape), np.zeros(self.reward.shape[1])
        for at in range(len(found) - 1, -1, -1):
            ahead = np.where(self.alive[at], self.reward[at] + discount * ahead, 0.0)
            found[at] = ahead
        return found


def imagine(stepper: Stepper, actor: Actor, counts: CountsPairs, *, steps: int) -> Imagined:
    """Roll a policy out; pairs that were never logged do not stop it."""
    data = stepper.logged.dataset
    obs, actor = data.obs[stepper.rows], actor.begun()
    alive = np.ones(len(obs), bool)
    low, high = float(data.reward.min()), float(data.reward.max())
    kept: dict[str, list[Any]] = {name: [] for name in Imagined.__dataclass_fields__}
    for at in range(steps):
        vectors = actor(obs)
        action = logged_form(data.space, vectors)
        found = counts.counts(obs, action)
        following, reward, ends = stepper.step(obs, vectors, at)
        level = np.array([LEVELS.index(each) for each in found.level])
        reward = np.clip(np.nan_to_num(reward), low, high)
        step = (obs, action, reward, alive.copy(), found.count, level)
        for name, value in zip(kept, step, strict=True):
            kept[name].append(value)
        alive &= ~ends & np.isfinite(following).all(axis=1) & ~stepper.over(at + 1)
        if not alive.any():
            break
        obs = np.where(alive[:, None], following, obs).astype(np.float32)
    return Imagined(**{name: np.stack(values) for name, values in kept.items()})


def logged_form(space: Any, vectors: np.ndarray) -> np.ndarray:
    """Actions in [-1, 1] as a dataset's columns hold them: in their units, or one-hot."""
    return vectors if space.discrete else space.actions(vectors)
