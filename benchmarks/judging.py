"""Speed of judging: critics against those of a training, and one policy's rollouts in a model."""

from __future__ import annotations

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from benchmarks.learning import ACTION, BATCH, OBS, steps
from benchmarks.measure import Result, alternate
from countmorl import load
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.data.dataset import Dataset
from countmorl.dynamics.fit import EnsembleConfig, EnsembleFit
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.termination import KnownTermination, known_rule
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.fqe import FQEConfig, _begin, _epoch, _problem
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.model_value import ModelValue
from countmorl.evaluation.support import Support
from countmorl.nets import MLP, adam
from countmorl.pessimism import NoPessimism
from countmorl.rollouts import PenalizedModel
from countmorl.types import Transition

UPDATES = 300
LONG, LARGE = 1000, 1_000_000
"""Steps of an episode, and rows of a log of D4RL's size."""
MINUTE = 60.0


def log(rows: int) -> Dataset:
    """Random rows in episodes of 1,000 steps."""
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((rows, OBS), np.float32)
    last = np.arange(rows) % LONG == LONG - 1
    return load(
        {
            "obs": obs,
            "action": rng.uniform(-1, 1, (rows, ACTION)).astype(np.float32),
            "reward": obs[:, 0],
            "next_obs": 0.9 * obs,
            "truncated": last,
            "action_low": -np.ones(ACTION),
            "action_high": np.ones(ACTION),
        }
    )


def critics() -> Result:
    """An epoch of fitted Q evaluation against the critic part of as many updates of SAC."""
    data, config = Logged(dataset=log(20_000)), FQEConfig(updates=UPDATES)
    start = data.actions[data.starts]
    problem, _, _ = _problem(data, data.actions, start, Measure(discount=0.995), config, 0)
    state = _begin(problem, jr.key(0))

    def fit() -> object:  # The epoch uses its state up.
        return jax.block_until_ready(_epoch(problem, jax.tree.map(jnp.copy, state), jr.key(1)))

    make = eqx.filter_jit(lambda key: SAC.make(SACConfig(), OBS, ACTION, updates=1000, key=key))
    sac, batch = make(jr.key(1)), steps(BATCH)

    @eqx.filter_jit
    def learn(sac: SAC, batch: Transition, key: jax.Array) -> SAC:
        return jax.lax.scan(
            lambda s, k: (critic_part(s, batch, k), None), sac, jr.split(key, UPDATES)
        )[0]

    train = lambda: jax.block_until_ready(learn(sac, batch, jr.key(2)))  # noqa: E731
    for warm in (fit, train):
        warm()
    ours, theirs = alternate(fit, train, repeat=3)
    name = f"fitted Q evaluation, {UPDATES} updates"
    ratio_to = "the critic part of as many updates of SAC"
    return Result(name=name, seconds=ours, ratio=ours / theirs, ratio_to=ratio_to, limit=1.2)


def critic_part(sac: SAC, batch: Transition, key: jax.Array) -> SAC:
    """Targets and a step of the critics, as `SAC.update` begins."""
    batch = sac.seen(batch)
    y = sac.backup(batch, key=key)

    def loss(nets: MLP) -> jax.Array:
        q = sac.head.q(nets, batch.obs, batch.action)
        return jnp.sum(jnp.mean(jnp.square(q - y), axis=1))

    gradient = jax.grad(loss)(sac.state.critics)
    found = adam(sac.config.critic_rate, gradient, sac.state.critic_opt, sac.state.critics)
    return eqx.tree_at(lambda s: (s.state.critics, s.state.critic_opt), sac, found)


def model_value() -> Result:
    """One policy in five elites of the default model, on a log of a million rows."""
    data = log(LARGE)
    config = EnsembleConfig(least_steps=1, max_epochs=1, holdout=1000)
    fit = EnsembleFit.of(data.first(20_000), config, seed=0)
    ensemble = fit.result(fit.init(key=jr.key(0)))
    rule = KnownTermination(known_rule("never"))
    model = PenalizedModel(ensemble, NoPessimism(), rule, Layout.of(data))
    support = Support.of(data, None)
    # Everything is near, so that nothing is cut: the longest way there is.
    support = Support(
        rows=support.rows, reach=support.reach + 1e6, limit=support.limit + 1e6, scale=support.scale
    )
    value = ModelValue(
        model=model, support=support, logged=Logged(dataset=data), measure=Measure(discount=0.995)
    )
    still = Actor(name="still", act=lambda obs: np.zeros((len(obs), ACTION)), space=data.space)
    value.roll(still)  # Compile.
    begun = time.perf_counter()
    value.roll(still)
    seconds = time.perf_counter() - begun
    name = f"model value of a policy, {LARGE:,} rows, nothing cut"
    return Result(
        name=name, seconds=seconds, ratio=seconds / MINUTE, ratio_to="a minute", limit=1.0
    )


def run() -> list[Result]:
    """Critics and rollouts."""
    return [critics(), model_value()]
