"""The critics' own value at logged starts, lowered as the method lowers rewards: it is free.

It is shown beside the log's value and decides nothing: critics that were trained in a model share
its errors, and say most where they know least.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.agents.heads import q_values
from countmorl.agents.sac import SAC
from countmorl.agents.td3 import TD3BC
from countmorl.algorithms import find_algorithm
from countmorl.configs import from_json
from countmorl.data.dataset import Dataset
from countmorl.errors import CountMorlError
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate, Opinion, Refusal
from countmorl.evaluation.behaviour import mean_interval
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.runs.folder import Run
from countmorl.trees import from_arrays

MADE_BY = "the run's own critics at logged starts"


def lowered_value(
    run: Run, taught: Dataset, logged: Logged, actor: Actor, measure: Measure, *, seed: int = 0
) -> Opinion:
    """min_j Q_j(s, pi(s)), the mean over logged starts."""
    agent = agent_of(run, taught)
    if agent is None:
        why = f"{run.manifest.algorithm} has no critics, or they are not in the folder."
        return Refusal(made_by=MADE_BY, why=why)
    discount = agent.config.discount
    if measure.horizon is not None or abs(measure.discount - discount) > 1e-9:
        why = f"its critics discount by {discount:g}, and values here are another unit."
        return Refusal(made_by=MADE_BY, why=why)
    obs = logged.dataset.obs[logged.starts]
    values = critics_value(agent, obs, actor(obs))
    return Estimate(
        value=float(values.mean()),
        interval=mean_interval(values, seed=seed) if len(values) > 1 else None,
        unit=measure.unit,
        made_by=MADE_BY,
        facts={"starts": float(len(values))},
    )


def critics_value(agent: SAC | TD3BC, obs: np.ndarray, action: np.ndarray) -> np.ndarray:
    """min_j Q_j(s, a) in the log's rewards."""
    seen = agent.standardizer(jnp.asarray(obs))
    if isinstance(agent, SAC):
        q = agent.head.q(agent.state.critics, seen, jnp.asarray(action))
    else:
        q = q_values(agent.state.critics, seen, jnp.asarray(action))
    return np.asarray(agent.unit * q.min(axis=0), np.float64)


def agent_of(run: Run, taught: Dataset) -> SAC | TD3BC | None:
    """Bring the trained agent back; a method that is code of one's own is left alone."""
    saved, manifest = run.load_result("policy"), run.manifest
    if saved is None or ":" in manifest.algorithm:
        return None
    try:
        algorithm = from_json(find_algorithm(manifest.algorithm), manifest.config)
        shape = eqx.filter_eval_shape(lambda key: algorithm.agent(taught, key=key), jr.key(0))
        agent = from_arrays(shape, saved[0])
    except CountMorlError:  # Of another version: the policy is judged without it.
        return None
    return agent if isinstance(agent, (SAC, TD3BC)) else None
