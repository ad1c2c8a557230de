"""Whatever acts, asked for actions as everything that learns sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.errors import CountMorlError, DataError
from countmorl.runtime.base import PolicyLike
from countmorl.spaces import ActionSpace

Act = Callable[[np.ndarray], Any]
BLOCK = 20_000
"""Rows that a policy is asked about at once."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Actor:
    """A policy that is judged: it acts by its mean, or its likeliest action."""

    name: str
    act: Act
    space: ActionSpace
    begin: Callable[[], Act] | None = None
    """Makes what acts anew, where it has a memory: it is then asked about all rollouts at every
    step, in the same order."""

    @classmethod
    def of(cls, policy: PolicyLike | Act, dataset: Dataset, name: str = "policy") -> Actor:
        """A policy, or any function from observations [n, obs] to actions, checked for sizes."""
        if isinstance(policy, PolicyLike):
            sizes = (policy.obs_dim, policy.action_dim, policy.discrete)
            wanted = (dataset.obs_dim, dataset.action_dim, dataset.discrete)
            if sizes != wanted:
                raise DataError(
                    f"{name} takes {_said(*sizes)}; '{dataset.name}' has {_said(*wanted)}. Judge "
                    "it by a log of its own task."
                )
            return cls(name=name, act=policy.act, space=dataset.space)
        if not callable(policy):
            raise DataError(
                f"{name} is a {type(policy).__name__}; wanted a run, a policy, or a function from "
                "observations [n, obs] to actions."
            )
        return cls(name=name, act=policy, space=dataset.space)

    def begun(self) -> Actor:
        """The actor at the beginning of its rollouts, without a memory of others."""
        return self if self.begin is None else replace(self, act=self.begin(), begin=None)

    def __call__(self, obs: np.ndarray) -> np.ndarray:
        """Actions [n, action] in [-1, 1], or one-hot; what is no action is a `DataError`."""
        parts = [self._some(obs[at : at + BLOCK]) for at in range(0, len(obs), BLOCK)]
        return np.concatenate(parts) if parts else np.zeros((0, self.space.size), np.float32)

    def _some(self, obs: np.ndarray) -> np.ndarray:
        try:
            given = np.asarray(self.act(obs))
            vectors = self.space.vectors(given)
        except CountMorlError as error:
            raise DataError(f"{self.name} cannot act on this log: {error}") from error
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{self.name} gave no actions for observations of shape {list(obs.shape)}: {error}"
            ) from error
        if vectors.shape != (len(obs), self.space.size):
            wanted = f"[{len(obs)}]" if self.space.discrete else f"[{len(obs)}, {self.space.size}]"
            raise DataError(
                f"{self.name} gave actions of shape {list(given.shape)} for {len(obs)} "
                f"observations; wanted {wanted}."
            )
        if not np.isfinite(vectors).all():
            raise DataError(f"{self.name} gave actions that are not finite numbers.")
        return vectors if self.space.discrete else np.clip(vectors, -1, 1)


def _said(obs: int, actions: int, discrete: bool) -> str:
    kind = "discrete actions" if discrete else "action numbers"
    return f"{obs} observation numbers and {actions} {kind}"
