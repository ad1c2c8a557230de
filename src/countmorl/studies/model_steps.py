"""How a model's error grows along a rollout, and what cutting at unseen pairs keeps of it.

A clone of the log is rolled out in each model from logged states; every imagined pair is put to the
simulator, as an audit does. A rollout is cut at its first pair that no logged row is near to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import jax.random as jr
import numpy as np

from countmorl.data.holdout import split
from countmorl.errors import ConfigError
from countmorl.evaluation.parts import dataset_of
from countmorl.evaluation.support import Support
from countmorl.studies.audit import imagined, simulator_for
from countmorl.studies.audit_parts import parts_of
from countmorl.studies.audit_policies import policies_of
from countmorl.studies.drawing import drawn, verbatim

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class StepsConfig:
    """How much is imagined."""

    horizon: int = 200
    """Steps of each rollout."""
    starts: int = 100
    """Rollouts, begun in logged states."""
    clone_updates: int = 3000
    """Gradient steps of the clone that is rolled out."""
    seed: int = 0
    """Seed of all that is drawn."""

    def __post_init__(self) -> None:
        for name in ("horizon", "starts", "clone_updates"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1, got {getattr(self, name)}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """One model: the median error of the pairs of each step, and how many rollouts are there."""

    run: str
    error: np.ndarray
    """Over all rollouts that have not ended, [horizon]; NaN where there are none."""
    cut_error: np.ndarray
    """Over those that are not cut, either."""
    going: np.ndarray
    """Share of the rollouts that have not ended."""
    uncut: np.ndarray
    """Share that is not cut, either."""


def steps_of(path: Path, config: StepsConfig, *, say: Say = lambda _: None) -> Steps:
    """Roll a clone of the log out in a run's model."""
    parts = parts_of(path)
    simulator = simulator_for(parts)
    whole = dataset_of(parts.run)
    taught, judged = split(whole, parts.run.manifest.data and parts.run.manifest.data.holdout)
    say("cloning the data's behaviour")
    act = policies_of(parts.run, parts.dataset, updates=config.clone_updates, seed=config.seed)
    say("imagining, then simulating")
    rolled, error = imagined(
        parts, act["clone"], simulator, config.starts, config.horizon, jr.key(config.seed)
    )
    simulator.env.close()
    obs, action = (np.asarray(each) for each in (rolled.steps.obs, rolled.steps.action))
    shape = (config.horizon, config.starts)
    live = np.asarray(rolled.live).reshape(shape)
    say("looking for logged rows nearby")
    near = Support.of(taught, judged, seed=config.seed).counts(obs, action).reshape(shape) > 0
    return summed(str(path), error.reshape(shape), live, near)


def summed(run: str, error: np.ndarray, live: np.ndarray, near: np.ndarray) -> Steps:
    """Medians by step, of tables [steps, rollouts]; an error that is NaN could not be simulated."""
    uncut = live & np.logical_and.accumulate(near, axis=0)
    return Steps(
        run=run,
        error=_medians(error, live),
        cut_error=_medians(error, uncut),
        going=live.mean(axis=1),
        uncut=uncut.mean(axis=1),
    )


def _medians(error: np.ndarray, which: np.ndarray) -> np.ndarray:
    rows = [e[w & np.isfinite(e)] for e, w in zip(error, which, strict=True)]
    return np.array([np.median(row) if len(row) else np.nan for row in rows])


def steps_figure(found: Sequence[Steps], path: Path) -> None:
    """Errors by step, dashed where rollouts are cut; below, how many are still there."""
    colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
    with drawn(path, 1, 2, (9.5, 3.6)) as (_, axes):
        left, right = axes[0]
        for place, each in enumerate(found):
            colour, name = colours[place % len(colours)], Path(each.run).name
            at = np.arange(1, len(each.error) + 1)
            left.plot(at, each.error, color=colour, label=name)
            left.plot(at, each.cut_error, "--", color=colour, label=f"{name}, cut")
            right.plot(at, each.going, color=colour)
            right.plot(at, each.uncut, "--", color=colour)
        left.set(xlabel="step of the rollout", ylabel="median error, in deviations", yscale="log")
        right.set(xlabel="step of the rollout", ylabel="share of the rollouts", ylim=(0, 1.02))
        verbatim(left.legend(fontsize=7))
