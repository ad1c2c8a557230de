"""A tabular policy in a file: load it, give it a state, get an action. Needs NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.errors import DataError, RunError
from countmorl.files import read_arrays, write_arrays
from countmorl.runtime.policy import POLICY_FILE

KIND = "tabular-policy"


@dataclass(frozen=True, eq=False, kw_only=True)
class TabularPolicy:
    """pi(a | s) with the counts behind it, so that a user sees where it is on thin ice."""

    probabilities: np.ndarray
    """pi(a | s), [states, actions]."""
    counts: np.ndarray
    """n(s, a) of the data, [states, actions]."""
    info: dict[str, Any]

    def act(self, state: int) -> int:
        """Return the likeliest action in a state."""
        if not 0 <= state < len(self.probabilities):
            raise DataError(
                f"State {state} is not one of the policy's {len(self.probabilities)} states."
            )
        return int(self.probabilities[state].argmax())

    def save(self, path: str | Path) -> None:
        """Write the policy to one safetensors file, atomically."""
        arrays = {"probabilities": self.probabilities, "counts": self.counts}
        write_arrays(Path(path), arrays, {"kind": KIND, "info": self.info})

    @classmethod
    def load(cls, path: str | Path) -> TabularPolicy:
        """Read a policy from a run folder or a file."""
        path = Path(path)
        path = path / POLICY_FILE if path.is_dir() else path
        arrays, meta = read_arrays(path)
        if meta.get("kind") != KIND:
            raise RunError(f"{path} is not a {KIND}; it is a {meta.get('kind', 'unknown')} file.")
        return cls(info=meta["info"], **arrays)
