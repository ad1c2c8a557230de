"""A tabular policy in a file: load it, give it a state, get an action. Needs no JAX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from countmorl.errors import DataError, RunError
from countmorl.files import Arrays, write_arrays
from countmorl.runtime.files import read_policy_file
from countmorl.runtime.levels import THIN_SHARE, Counted, level_of

TABULAR_KIND = "tabular-policy"
CHANCE_SLACK = 1e-3
"""How far from 1 rounding may take the sum of probabilities."""
MANY = 1e300
"""More rows than any log has: beyond are infinities."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TabularPolicy:
    """pi(a | s) with the counts behind it, so that a user sees where it is on thin ice."""

    probabilities: np.ndarray
    """pi(a | s), [states, actions]."""
    counts: np.ndarray
    """n(s, a) of the data, [states, actions]."""
    info: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not self._fits():
            raise RunError(
                "This policy cannot be used: it wants finite probabilities that add up to 1 and "
                "counts, both [states, actions], and a table that says where it comes from."
            )

    def _fits(self) -> bool:
        chances, counts = self.probabilities, self.counts
        numbers = chances.dtype.kind == "f" and counts.dtype.kind in "iuf"
        shapes = chances.ndim == 2 and chances.size and chances.shape == counts.shape
        if not numbers or not shapes or not isinstance(self.info, Mapping):
            return False
        whole = np.abs(chances.sum(axis=1) - 1) < CHANCE_SLACK  # No number that is none is near 1.
        return bool(
            (chances >= 0).all() and whole.all() and ((counts >= 0) & (counts < MANY)).all()
        )

    def __repr__(self) -> str:
        states, actions = self.probabilities.shape
        return f"TabularPolicy({states} states -> one of {actions} actions, {dict(self.info)})"

    @property
    def obs_dim(self) -> int:
        """An observation is one number: the state's."""
        return 1

    @property
    def action_dim(self) -> int:
        """How many actions there are."""
        return self.probabilities.shape[1]

    @property
    def discrete(self) -> bool:
        """Actions are numbers."""
        return True

    def act(self, obs: ArrayLike, *, rng: np.random.Generator | None = None) -> np.ndarray | int:
        """Return the likeliest action of a state, or with `rng` a sample.

        A state is a whole number, or an observation [1]; a batch is [n, 1].
        """
        flat, many = self.states(obs)
        chances = self.probabilities[flat]
        if rng is None:
            actions = chances.argmax(axis=1)
        else:
            actions = (chances.cumsum(axis=1) > rng.random((len(flat), 1))).argmax(axis=1)
        return actions if many else int(actions[0])

    def chances(self, obs: ArrayLike) -> np.ndarray:
        """How likely each action is when it is sampled, [n, actions]."""
        return self.probabilities[self.states(obs)[0]]

    def states(self, obs: ArrayLike) -> tuple[np.ndarray, bool]:
        """The numbers of the states that observations are, and whether they are a batch."""
        try:
            states = np.asarray(obs, np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"A state is a whole number, got {str(obs)[:40]!r}.") from error
        if states.ndim and states.shape[-1] != 1:
            raise DataError(
                "The policy wants the number of a state, an observation [1] or a batch [n, 1]; "
                f"got an array of shape {list(states.shape)}."
            )
        flat = states.reshape(-1)
        wrong = flat[(flat != np.floor(flat)) | (flat < 0) | (flat >= len(self.probabilities))]
        if len(wrong):
            raise DataError(
                f"State {wrong[0]:g} is not one of the policy's {len(self.probabilities)} states."
            )
        return flat.astype(np.int64), states.ndim == 2

    def save(self, path: str | Path) -> None:
        """Write the policy to one safetensors file, atomically."""
        arrays = {"probabilities": self.probabilities, "counts": self.counts}
        write_arrays(Path(path), arrays, {"kind": TABULAR_KIND, "info": dict(self.info)})

    @classmethod
    def load(cls, path: str | Path) -> TabularPolicy:
        """Read a policy from a run folder or a file."""
        path, arrays, meta = read_policy_file(path)
        if meta.get("kind") != TABULAR_KIND:
            raise RunError(
                f"{path} is not a {TABULAR_KIND}; it is a {meta.get('kind', 'unknown')} file."
            )
        return cls.of(path, arrays, meta)

    @classmethod
    def of(cls, path: Path, arrays: Arrays, meta: Mapping[str, Any]) -> TabularPolicy:
        """Make a policy of what its file holds."""
        try:
            return cls(
                probabilities=arrays["probabilities"], counts=arrays["counts"], info=meta["info"]
            )
        except KeyError as error:
            raise RunError(f"{path} is not a complete policy: {error} is missing.") from error


@dataclass(frozen=True, eq=False, kw_only=True)
class TabularCounts:
    """The counts of a tabular policy as those of a network's are asked: `counts(obs, action)`.

    Thin is what a tenth of the logged steps are, each counted without itself; at least 1.
    """

    policy: TabularPolicy
    thin: float

    @classmethod
    def of(cls, policy: TabularPolicy) -> TabularCounts:
        """The counts that a policy brings along."""
        seen = policy.counts[policy.counts > 0].astype(np.float64)
        order = np.argsort(seen, kind="stable")
        others, steps = seen[order] - 1, seen[order].cumsum()  # n pairs were logged n times each.
        place = np.searchsorted(steps, THIN_SHARE * steps[-1]) if len(steps) else 0
        return cls(policy=policy, thin=max(1.0, float(others[place]) if len(others) else 1.0))

    def counts(self, obs: Any, action: Any) -> Counted:
        """Count pairs of states [n, 1] and actions [n], or one of each."""
        states, _ = self.policy.states(obs)
        actions = np.asarray(action, np.float64).reshape(-1)
        number = self.policy.action_dim
        whole = (actions == np.floor(actions)) & (actions >= 0) & (actions < number)
        if len(actions) != len(states) or not whole.all():
            raise DataError(
                f"Wanted one action from 0 to {number - 1} for each of {len(states)} states."
            )
        count = self.policy.counts[states, actions.astype(np.int64)].astype(np.float64)
        members = count.astype(np.int64)[None]
        return Counted(members=members, count=count, level=level_of(members, count, self.thin))
