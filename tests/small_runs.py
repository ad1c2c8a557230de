"""Small settings of every algorithm and small logs to train them on, shared by several test files.

The same shapes everywhere: what one file has compiled, the others read from the cache.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from countmorl import Run, RunOptions, train
from countmorl.agents.conservative import ConservativeConfig
from countmorl.agents.sac_config import SACConfig
from countmorl.agents.td3 import TD3Config
from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.adversary import AdversaryConfig
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.counting.base import CodesConfig
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.training.policy_fit import PolicyFit

QUIET: dict[str, Any] = {"options": RunOptions(save_every=1, eval_every=0), "quiet": True}
SAC = SACConfig(hidden=(8, 8))
MODEL = EnsembleConfig(
    members=3, elites=2, width=8, batch=32, holdout=40, max_epochs=2, least_steps=1, norm=False
)
"""Eight units that are normalised, after two epochs, tell an encoder too little."""
PLAIN_CODES = CodesConfig(bits=6, fit_epochs=1, fit_updates=9, verified=None, follow="pairs")
"""Encoders of so few updates tell no more than by chance; these, by chance, enough."""
EVERY = {"epochs": 3, "updates": 4, "batch": 20}
# The termination rule is given, so that none has to be learned ten times.
DREAMS = EVERY | {"horizon": 2, "branches": 20, "retain": 2, "model": MODEL, "sac": SAC}
DREAMS |= {"termination": "never"}
OWN = {
    "bc": EVERY | {"hidden": (8,)},
    "td3-bc": EVERY | {"td3": TD3Config(hidden=(8, 8))},
    "cql": EVERY | {"sac": SAC, "conservative": ConservativeConfig()},
    # Neither verifying nor imitating by the data, each of which fits a clone.
    "count-morl": DREAMS | {"codes": PLAIN_CODES, "imitate": 0.0},
    "mopo": DREAMS,
    "morel": DREAMS,
    "combo": DREAMS,
    "rambo": DREAMS | {"clone_epochs": 2, "adversary": AdversaryConfig(steps=5, batch=8)},
    "repb-sde": DREAMS | {"first_epochs": 2},
    "mobile": DREAMS | {"samples": 2},
}


def small(name: str, **changes: Any) -> Any:
    """Small settings of an algorithm, also of one that this file does not know."""
    cls = ALGORITHMS[name]
    settings = OWN.get(name, DREAMS if issubclass(cls, AbstractModelBased) else EVERY)
    return cls(**{**settings, **changes})


def vector_log() -> dict[str, np.ndarray]:
    """300 steps with two observation numbers and one action number between 0 and 2."""
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((300, 2)).astype(np.float32)
    action = rng.uniform(0, 2, (300, 1)).astype(np.float32)
    next_obs = 0.9 * obs + 0.1 * action
    return {
        "obs": obs,
        "action": action,
        "next_obs": next_obs,
        "reward": -(obs**2).sum(axis=1),
        "terminated": next_obs[:, 0] > 1.5,
        "action_low": np.zeros(1),
        "action_high": np.full(1, 2.0),
    }


def numbered_log(rows: int = 300, actions: int = 3, **more: np.ndarray) -> dict[str, np.ndarray]:
    """A walk on a line: action 0 steps down, 1 stays, 2 steps up; the reward is at the top."""
    rng = np.random.default_rng(0)
    action = rng.integers(0, actions, rows)
    obs = rng.uniform(-1, 1, (rows, 1)).astype(np.float32)
    next_obs = np.clip(obs + 0.2 * (action[:, None] - 1), -1, 1).astype(np.float32)
    arrays = {"obs": obs, "action": action, "next_obs": next_obs, "reward": next_obs[:, 0]}
    return arrays | {"truncated": np.ones(rows, bool)} | more


@dataclass(frozen=True)
class Finished:
    """A finished run, and its stage and agent as they were in memory."""

    run: Run
    stage: PolicyFit
    agent: Any


def finish(folder: Path, name: str) -> Finished:
    """Carry out an algorithm's small run in a folder, on its file `log.npz` of `vector_log`."""
    offered, kept = PolicyFit.offered, {}

    def remember(fit, state):
        # A copy: the next epoch takes the state's memory.
        kept.update(stage=fit, agent=jax.tree.map(jnp.copy, state.agent))
        return offered(fit, state)

    if not (folder / "log.npz").exists():
        np.savez(folder / "log.npz", **vector_log())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PolicyFit, "offered", remember)
        run = train(small(name), folder / "log.npz", out=folder / name, **QUIET)
    return Finished(run, **kept)
