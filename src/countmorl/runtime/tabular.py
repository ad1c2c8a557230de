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

KIND = "tabular-policy"


@dataclass(frozen=True, eq=False, kw_only=True)
class TabularPolicy:
    """pi(a | s) with the counts behind it, so that a user sees where it is on thin ice."""

    probabilities: np.ndarray
    """pi(a | s), [states, actions]."""
    counts: np.ndarray
    """n(s, a) of the data, [states, actions]."""
    info: Mapping[str, Any]

    def __post_init__(self) -> None:
        chances = self.probabilities
        fits = chances.ndim == 2 and chances.size and chances.shape == self.counts.shape
        if not fits or not np.isfinite(chances).all() or not isinstance(self.info, Mapping):
            raise RunError(
                "This policy cannot be used: it wants finite probabilities and counts, both "
                "[states, actions], and a table that says where it comes from."
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
        states = np.asarray(obs)
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
        chances = self.probabilities[flat.astype(np.int64)]
        if rng is None:
            actions = chances.argmax(axis=1)
        else:
            actions = (chances.cumsum(axis=1) > rng.random((len(flat), 1))).argmax(axis=1)
        return actions if states.ndim == 2 else int(actions[0])

    def save(self, path: str | Path) -> None:
        """Write the policy to one safetensors file, atomically."""
        arrays = {"probabilities": self.probabilities, "counts": self.counts}
        write_arrays(Path(path), arrays, {"kind": KIND, "info": dict(self.info)})

    @classmethod
    def load(cls, path: str | Path) -> TabularPolicy:
        """Read a policy from a run folder or a file."""
        path, arrays, meta = read_policy_file(path)
        if meta.get("kind") != KIND:
            raise RunError(f"{path} is not a {KIND}; it is a {meta.get('kind', 'unknown')} file.")
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
