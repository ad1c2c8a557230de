"""Small models, agents and steps that several test files need."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms.model_based import AbstractBuild
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.termination import KnownTermination, known_rule
from countmorl.pessimism import NoPessimism
from countmorl.rollouts import PenalizedModel
from countmorl.scaling import Standardizer
from countmorl.spaces import ActionSpace
from countmorl.types import Transition


def small_ensemble(members=2, inputs=3, targets=3, width=16):
    """Random networks side by side; every member is an elite."""
    sizes = (inputs, width, width, width, width, targets)
    nets = jax.vmap(lambda k: GaussianNet.make(sizes, key=k))(jr.split(jr.key(0), members))
    scales = (Standardizer.identity(inputs), Standardizer.identity(targets))
    return Ensemble(nets, *scales, jnp.arange(members), jnp.zeros(members))


def all_predicted(obs, action):
    """Every number of the next observation is predicted, actions lie in [-1, 1]."""
    ones = np.ones(action, np.float32)
    return Layout.everything(obs, ActionSpace(low=-ones, high=ones))


OBS, ACTION = 2, 1


@eqx.filter_jit
def members(count=3):
    make = lambda key: GaussianNet.make((OBS + ACTION, 8, 8, 8, 8, OBS + 1), key=key)  # noqa: E731
    return jax.vmap(make)(jr.split(jr.key(0), count))


@eqx.filter_jit
def agent():
    return SAC.make(SACConfig(hidden=(8, 8)), OBS, ACTION, updates=10, key=jr.key(1))


@eqx.filter_jit
def steps(rows=6):
    k = jr.split(jr.key(2), 4)
    return Transition(
        jr.normal(k[0], (rows, OBS)),
        jnp.tanh(jr.normal(k[1], (rows, ACTION))),
        jr.normal(k[2], (rows,)),
        jr.normal(k[3], (rows, OBS)),
        jnp.arange(rows) % 3 == 0,
    )


def ensemble():
    scales = (Standardizer.identity(OBS + ACTION), Standardizer.identity(OBS + 1))
    return Ensemble(members(), *scales, jnp.array([2, 0]), jnp.zeros(3))


def model():
    never = KnownTermination(known_rule("never"))
    return PenalizedModel(ensemble(), NoPessimism(), never, all_predicted(OBS, ACTION))


class Given(AbstractBuild):
    """What an algorithm asks for, given instead of fitted."""

    pairs = targets = counter = keep_counter = None  # type: ignore[assignment]
    unit = 1.0  # type: ignore[assignment]

    def __init__(self, **parts):
        vars(self).update(parts)


def build(rows=30):
    targets = 3.0 * jr.normal(jr.key(6), (rows, 3)) * jnp.array([1.0, 10.0, 0.1])
    return Given(ensemble=ensemble(), pairs=jr.normal(jr.key(9), (rows, 3)), targets=targets)


def policy_of(agent, actions=2):
    """An agent's policy, for actions between -1 and 1."""
    ones = np.ones(actions, np.float32)
    return agent.policy(ActionSpace(low=-ones, high=ones), {})
