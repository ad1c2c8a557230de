"""Speed of Count-MORL's parts, against plain matrix products of the same work."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from benchmarks.measure import Result, alternate
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.counting.base import CodesConfig
from countmorl.counting.codes import Autoencoder
from countmorl.counting.fit import CodesFit, encode
from countmorl.counting.learned import CodeCounter
from countmorl.counting.table import CountTable
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleConfig, EnsembleFit, ModelRows, Scales
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.termination import KnownTermination, known_rule
from countmorl.pessimism import CountPenalty
from countmorl.rollouts import PenalizedModel, rollout
from countmorl.scaling import Standardizer
from countmorl.spaces import ActionSpace
from countmorl.types import Transition

OBS, ACTION, BITS = 17, 6, 32
"""HalfCheetah's sizes, and the code length of the paper there."""
BATCH, BRANCHES, HORIZON, ROWS = 256, 50_000, 5, 1_000_000
SIDE = 256
"""Side of the square matrices that serve as the yardstick."""


def weights(*sizes: int) -> int:
    """Weights of a network; a row passes through it in twice as many operations."""
    return sum(a * b for a, b in itertools.pairwise(sizes))


ACTOR = weights(OBS, 256, 256, 2 * ACTION)
CRITIC = weights(OBS + ACTION, 256, 256, 1)
TRUNK = weights(OBS + ACTION, 200, 200)
HEAD = weights(200, 200, 200, 2 * (OBS + 1))
ENCODER = weights(200, 100, 50, BITS)
DECODER = weights(BITS, 50, 100, 100, OBS + ACTION)


@eqx.filter_jit
def products(x: jax.Array, count: int) -> jax.Array:
    """Multiply matrices one after the other."""
    return jax.lax.fori_loop(0, count, lambda _, y: (y @ x) * (1.0 / SIDE), x)


def compare(name: str, work: Callable[[], Any], operations: float, limit: float) -> Result:
    """Time something and the matrix products of its work, in turns."""
    count, x = max(1, round(operations / (2 * SIDE**3))), jnp.ones((SIDE, SIDE))
    shown = min(count, 20_000)
    plain = lambda: jax.block_until_ready(products(x, shown))  # noqa: E731
    ours = lambda: jax.block_until_ready(work())  # noqa: E731
    for warm in (ours, plain):  # Compile.
        warm()
    seconds, yard = alternate(ours, plain, repeat=3)
    ratio_to = f"matrix products, n = {SIDE}, {operations / 1e9:.2f} GFLOP"
    ratio = seconds / (yard * count / shown)
    return Result(name=name, seconds=seconds, ratio=ratio, ratio_to=ratio_to, limit=limit)


def steps(rows: int) -> Transition:
    k = jr.split(jr.key(0), 4)
    return Transition(
        jr.normal(k[0], (rows, OBS)),
        jnp.tanh(jr.normal(k[1], (rows, ACTION))),
        jr.normal(k[2], (rows,)),
        jr.normal(k[3], (rows, OBS)),
        jnp.zeros(rows, bool),
    )


def sac_update(norm: bool) -> Result:
    """100 updates of the agent: 4 passes of the actor, 12 of a critic."""
    config = SACConfig(critic_norm=norm)
    make = eqx.filter_jit(lambda key: SAC.make(config, OBS, ACTION, updates=1000, key=key))
    sac, batch = make(jr.key(1)), steps(BATCH)

    @eqx.filter_jit
    def learn(sac: SAC, batch: Transition, key: jax.Array) -> SAC:
        step = lambda agent, k: (agent.update(batch, key=k)[0], None)  # noqa: E731
        return jax.lax.scan(step, sac, jr.split(key, 100))[0]

    operations = 100 * 2 * BATCH * (4 * ACTOR + 12 * CRITIC)
    name = f"SAC, 100 updates{', normalised critics' if norm else ''}"
    return compare(name, lambda: learn(sac, batch, jr.key(2)), operations, 1.7)


def raw() -> Scales:
    """No scaling, since the rows are standard normal already."""
    return Scales(Standardizer.identity(OBS + ACTION), Standardizer.identity(OBS + 1))


def ensemble_step() -> Result:
    """An epoch of 100 steps of all seven members."""
    config = EnsembleConfig(least_steps=1, holdout=1000)
    x, y = jr.normal(jr.key(0), (25_600, OBS + ACTION)), jr.normal(jr.key(1), (25_600, OBS + 1))
    ensemble = EnsembleFit(ModelRows(x, y, x[:1000], y[:1000]), raw(), config)
    state = ensemble.init(key=jr.key(2))
    operations = 7 * 2 * (3 * len(x) + 1000) * (TRUNK + HEAD)

    def fit() -> Any:  # The epoch uses its state up, so each repetition begins with a copy.
        return ensemble.epoch(jax.tree.map(jnp.copy, state), key=jr.key(3))

    return compare("ensemble, 100 training steps", fit, operations, 1.8)


def counted_model() -> tuple[PenalizedModel, jax.Array]:
    """A random ensemble with codes and counts of a million random rows."""
    config = EnsembleConfig()
    x, y = jr.normal(jr.key(0), (ROWS, OBS + ACTION)), jnp.zeros((100, OBS + 1))
    rows = ModelRows(x[:100], y, x[:100], y)
    whole = EnsembleFit(rows, raw(), config)
    ensemble = whole.result(whole.init(key=jr.key(2)))
    codes = CodesFit(ensemble, rows, CodesConfig(), BITS)
    autoencoders = codes.result(codes.init(key=jr.key(3)))
    counter = CodeCounter(autoencoders=autoencoders, tables=count_rows(ensemble, autoencoders, x))
    rule = KnownTermination(known_rule("never"))
    ones = np.ones(ACTION, np.float32)
    layout = Layout.everything(OBS, ActionSpace(low=-ones, high=ones))
    return PenalizedModel(ensemble, CountPenalty(counter, 1.0, "UC", 0.5), rule, layout), x


def count_rows(
    ensemble: Ensemble, autoencoders: Autoencoder, x: jax.Array
) -> tuple[CountTable, ...]:
    """Encode rows and count their codes."""
    return tuple(CountTable.of(member) for member in encode(ensemble, autoencoders, x)[0])


def count_table(model: PenalizedModel, x: jax.Array) -> Result:
    """Features, codes and table of a million rows for five elites."""
    ensemble: Ensemble = model.ensemble
    autoencoders = model.pessimism.counter.autoencoders  # type: ignore[attr-defined]
    work = lambda: count_rows(ensemble, autoencoders, x)[-1].counts  # noqa: E731
    operations = 5 * 2 * ROWS * (TRUNK + ENCODER)
    return compare("count table, 1,000,000 rows x 5", work, operations, 3.0)


def verifying(model: PenalizedModel) -> PenalizedModel:
    """The same model, whose codes are verified by their decoders."""
    place = lambda m: (m.pessimism.counter.limits, m.pessimism.counter.ends)  # noqa: E731
    bounds = jnp.ones(5), 2 * jnp.ones(5)
    return eqx.tree_at(place, model, bounds, is_leaf=lambda leaf: leaf is None)


def rollout_step(model: PenalizedModel, x: jax.Array, *, verified: bool) -> Result:
    """Rollouts of one epoch, with counts."""
    config = SACConfig()
    make = eqx.filter_jit(lambda key: SAC.make(config, OBS, ACTION, updates=1000, key=key))
    agent, start = make(jr.key(1)), 0.1 * x[:BRANCHES, :OBS]
    model = verifying(model) if verified else model

    @eqx.filter_jit
    def roll(model: PenalizedModel, agent: SAC, start: jax.Array, key: jax.Array) -> Any:
        return rollout(model, agent.act, start, HORIZON, key=key)

    counting = TRUNK + ENCODER + DECODER * verified
    operations = 2 * BRANCHES * HORIZON * (5 * counting + HEAD + ACTOR)
    work = lambda: roll(model, agent, start, jr.key(4))  # noqa: E731
    name = f"rollout with {'verified ' * verified}counts, {BRANCHES:,} x {HORIZON}"
    return compare(name, work, operations, 2.5)


def run() -> list[Result]:
    """Agent, ensemble, counts and rollouts."""
    parts = [sac_update(norm=False), sac_update(norm=True), ensemble_step()]
    model, x = counted_model()
    rolled = [rollout_step(model, x, verified=verified) for verified in (False, True)]
    return [*parts, count_table(model, x), *rolled]
