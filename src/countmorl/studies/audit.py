"""Does a penalty grow with the model's true error, where a policy goes in the model?

Rollouts in a run's model, from logged states; every imagined pair is put to the simulator. The
error of a pair is the root mean square, over what is predicted, of the elites' mean prediction
less the truth, each column in deviations of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float

from countmorl import trees
from countmorl.counting.base import CodesConfig
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.envs.placing import Simulator, simulator_of
from countmorl.errors import ConfigError
from countmorl.rollouts import PenalizedModel, Rolled, rollout
from countmorl.spaces import ActionSpace
from countmorl.studies.audit_parts import Parts, parts_of
from countmorl.studies.audit_penalties import Judge, distance
from countmorl.studies.audit_policies import Act, policies_of
from countmorl.studies.audit_tables import Audit, Sample, summed_up
from countmorl.types import Key, Transition

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class AuditConfig:
    """How much is imagined."""

    horizon: int = 50
    """Steps of each rollout; the horizon that the run was trained with is audited beside it."""
    starts: int = 200
    """Rollouts of each policy, begun in logged states."""
    clone_updates: int = 3000
    """Gradient steps of the clone of the data's behaviour."""
    bits: tuple[int, ...] = ()
    """Code lengths to audit beside the run's own; fitting one takes about a minute."""
    seed: int = 0
    """Seed of the starts, the clone and the rollouts."""

    def __post_init__(self) -> None:
        for name in ("horizon", "starts", "clone_updates"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1, got {getattr(self, name)}.")
        for bits in self.bits:
            CodesConfig(bits=bits)
        if self.seed < 0:
            raise ConfigError(f"`seed` must be at least 0, got {self.seed}.")


def audit(
    run: Path,
    config: AuditConfig,
    *,
    task: str | None = None,
    data: str | None = None,
    say: Say = lambda _: None,
) -> list[Audit]:
    """Audit a run's model: over the horizon it was trained with, and over the config's."""
    parts = parts_of(run, task=task, data=data)
    simulator = simulator_for(parts)
    counters = {} if parts.counter is None else {"": parts.counter}
    for bits in config.bits:
        say(f"fitting codes of {bits} bits")
        counters[f", {bits} bits"] = parts.codes_of(bits)
    judge = Judge.of(parts.model.ensemble, counters, parts.alpha, parts.rows.x, parts.scale)
    say("cloning the data's behaviour")
    acts = policies_of(parts.run, parts.dataset, updates=config.clone_updates, seed=config.seed)
    longest = max(config.horizon, parts.horizon)
    samples = []
    for number, (name, act) in enumerate(acts.items()):
        say(f"{name}: imagining, then simulating")
        key = jr.fold_in(jr.key(config.seed), number)
        rolled = _roll(parts.model, act, _starts(parts, config), longest, key)
        samples.append(_sample(name, rolled, config.starts, parts, judge, simulator))
    simulator.env.close()
    sample = Sample.join(samples)
    horizons = sorted({parts.horizon, config.horizon})
    about = Audit(run=str(run), task=simulator.env.spec.id, horizon=longest, starts=config.starts)
    return [summed_up(replace(about, horizon=h), sample.until(h)) for h in horizons]


def simulator_for(parts: Parts) -> Simulator:
    """The simulator of a run's task; what cannot be put into a state is a `ConfigError`."""
    task, dataset = parts.dataset.task, parts.dataset
    if task is None:
        raise ConfigError(
            f"{parts.run.path} was trained on data without a known environment. Name one that can "
            "be simulated with --task."
        )
    simulator = simulator_of(task)
    space = simulator.space
    sizes = (simulator.obs_dim, space.size, space.discrete)
    if sizes != (dataset.obs_dim, dataset.action_dim, dataset.discrete):
        raise ConfigError(
            f"{task.env_id} has {simulator.obs_dim} observation and {space.size} action numbers; "
            f"'{dataset.name}' has {dataset.obs_dim} and {dataset.action_dim}. Give its own --task."
        )
    return simulator


def _starts(parts: Parts, config: AuditConfig) -> Float[Array, "starts obs"]:
    obs = parts.dataset.transitions("model").obs
    rows = np.random.default_rng(config.seed).integers(0, len(obs), config.starts)
    return jnp.asarray(obs[rows])


@eqx.filter_jit
def _roll(
    model: PenalizedModel, act: Act, start: Float[Array, "starts obs"], horizon: int, key: Key
) -> Rolled:
    return rollout(model, act, start, horizon, key=key)


@eqx.filter_jit
def _predicted(
    ensemble: Ensemble, obs: Float[Array, "pairs obs"], action: Float[Array, "pairs action"]
) -> Float[Array, "pairs targets"]:
    """The elites' mean prediction."""

    def block(x: Array, _: Array) -> Array:
        heads, _ = jax.vmap(GaussianNet.head)(ensemble.elite_members, ensemble.trunks(x))
        return ensemble.targets.invert(heads.mean(axis=0))

    return trees.in_blocks(block, ensemble.standardize(obs, action))


def imagined(
    parts: Parts, act: Act, simulator: Simulator, starts: int, horizon: int, key: Key
) -> tuple[Rolled, np.ndarray]:
    """Rollouts of a policy, step by step, and the true error of every pair; NaN if unknown."""
    first = _starts(parts, AuditConfig(starts=starts))
    rolled = _roll(parts.model, act, first, horizon, key)
    steps = Transition(*(np.asarray(each) for each in rolled.steps))
    prediction = np.asarray(_predicted(parts.model.ensemble, *rolled.steps[:2]), np.float64)
    truth, _, _ = _truth(steps, np.asarray(rolled.live), parts, simulator)
    return rolled, np.sqrt(np.mean(np.square((prediction - truth) / parts.deviations), axis=1))


def _sample(
    name: str, rolled: Rolled, starts: int, parts: Parts, judge: Judge, simulator: Simulator
) -> Sample:
    """Judge one policy's imagined pairs and simulate them."""
    steps = Transition(*(np.asarray(each) for each in rolled.steps))
    measured = judge(rolled.steps.obs, rolled.steps.action)
    ensemble = parts.model.ensemble
    pairs = ensemble.standardize(rolled.steps.obs, rolled.steps.action)
    penalties = {key: np.asarray(value) for key, value in measured.penalties.items()}
    penalties["nearest logged pair"] = distance(parts.rows.x, pairs)
    truth, reward, known = _truth(steps, np.asarray(rolled.live), parts, simulator)
    prediction = np.asarray(measured.prediction, np.float64)
    error = np.sqrt(np.mean(np.square((prediction - truth) / parts.deviations), axis=1))
    found = Sample(
        policy=np.full(len(error), name),
        step=1 + np.arange(len(error)) // starts,
        error=error,
        reward_gap=prediction[:, -1] - reward,
        unseen=None if measured.unseen is None else np.asarray(measured.unseen),
        penalties=penalties,
    )
    return found.where(known)


def _truth(
    steps: Transition, live: np.ndarray, parts: Parts, simulator: Simulator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is predicted, in truth; the rewards; and which pairs could be simulated."""
    space: ActionSpace = parts.dataset.space
    found = simulator.at(steps.obs[live], space.actions(steps.action[live]))
    next_obs, reward = np.full(steps.obs.shape, np.nan), np.full(len(live), np.nan)
    next_obs[live], reward[live] = found.next_obs, found.reward
    changes = parts.model.layout.changes(steps.obs, next_obs)
    truth = np.concatenate([changes, reward[:, None]], axis=1)
    return truth, reward, np.asarray(np.isfinite(truth).all(axis=1))
