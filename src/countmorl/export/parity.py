"""Does a graph answer as the policy that it was made of? Both are asked, and compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.extras import require
from countmorl.runtime.bundle import Bundle
from countmorl.runtime.levels import LEVELS

PARITY_BLOCK = 8_192
Runner = Callable[[np.ndarray], dict[str, np.ndarray]]
"""Runs a graph on observations [n, obs]."""


@dataclass(frozen=True, kw_only=True)
class Parity:
    """What a graph and its policy do not agree on."""

    rows: int
    action_difference: float
    """The largest difference of an action's number; of discrete actions, 1 where any differs."""
    counts_differ: int
    """Observations whose count is another, for the action that either gives."""
    levels_differ: int

    @property
    def sentence(self) -> str:
        """All of it in a sentence."""
        return (
            f"policy.onnx on {self.rows:,} observations: actions differ by at most "
            f"{self.action_difference:.2g}, {self.counts_differ} counts and {self.levels_differ} "
            "levels differ."
        )


def graph_runner(path: Path) -> Runner:
    """What runs a graph: onnxruntime, on one thread."""
    runtime = require("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return lambda obs: dict(zip(names, session.run(None, {"obs": obs}), strict=True))


def some_observations(logged: np.ndarray, rows: int, *, seed: int = 0) -> np.ndarray:
    """Logged observations, as many jolted ones, and a few from far away."""
    rng = np.random.default_rng(seed)
    obs = logged[rng.integers(0, len(logged), rows)].astype(np.float32)
    scale = logged.std(axis=0).astype(np.float32)
    obs[rows // 2 :] += 0.3 * scale * rng.standard_normal(obs[rows // 2 :].shape, np.float32)
    obs[-(rows // 100) - 1 :] *= 100
    return obs


def compared(bundle: Bundle, runner: Runner, obs: np.ndarray) -> Parity:
    """Ask both for all observations; a guard's fall-back is no part of a graph."""
    difference, counts, levels = 0.0, 0, 0
    for at in range(0, len(obs), PARITY_BLOCK):
        block = obs[at : at + PARITY_BLOCK]
        found, action = runner(block), np.asarray(_actions(bundle, block))
        difference = max(difference, float(np.abs(found["action"] - action).max()))
        if bundle.counts is not None:
            wanted = bundle.counts.counts(block, action)
            counts += int((found["count"] != wanted.count).sum())
            levels += int((np.array(LEVELS)[found["level"]] != wanted.level).sum())
    return Parity(
        rows=len(obs), action_difference=difference, counts_differ=counts, levels_differ=levels
    )


def _actions(bundle: Bundle, obs: np.ndarray) -> Any:
    return bundle.policy.act(obs)
