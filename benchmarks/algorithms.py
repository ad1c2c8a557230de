"""An epoch of each algorithm against Count-MORL's: a tenth of the usual size."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from benchmarks.learning import ACTION, OBS, counted_model, steps
from benchmarks.measure import Result, alternate
from countmorl import load
from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased
from countmorl.buffer import RingBuffer
from countmorl.rollouts import PenalizedModel
from countmorl.training.epoch import Frozen, Imagination, PolicyState, epoch, on_device

UPDATES, BRANCHES, ROWS = 100, 2_000, 20_000
NAMES = (
    "count-morl",
    "bc",
    "td3-bc",
    "cql",
    "mopo",
    "morel",
    "combo",
    "rambo",
    "repb-sde",
    "mobile",
)


class Given(AbstractBuild):
    """A fitted model, a counter and some rows, for whatever asks for them."""

    def __init__(self, model: PenalizedModel, pairs: jax.Array) -> None:
        self.model, self.ensemble = model, model.ensemble
        step = steps(ROWS)
        names = ("obs", "action", "reward", "next_obs", "terminated")
        arrays = {name: np.asarray(value) for name, value in zip(names, step, strict=True)}
        self.dataset = load(arrays)
        self._pairs, self._targets = pairs, 0.1 * jr.normal(jr.key(0), (len(pairs), OBS + 1))

    @property
    def pairs(self) -> jax.Array:
        return self._pairs

    @property
    def targets(self) -> jax.Array:
        return self._targets

    @property
    def unit(self) -> float:
        return 1.0

    def counter(self, name: Any, config: Any) -> Any:
        return self.model.pessimism.counter  # type: ignore[attr-defined]

    def keep_counter(self, name: Any, penalty: Any) -> None:
        return


def prepared(algorithm: AbstractAlgorithm, build: Given) -> tuple[Frozen, PolicyState]:
    """What the compiled epoch reads and what it changes."""
    dataset = build.dataset
    data = on_device(dataset.transitions("critic"))
    make = eqx.filter_jit(lambda key: algorithm.agent(dataset, key=key))
    agent = make(jr.key(1))
    if not isinstance(algorithm, AbstractModelBased):
        return Frozen(data, UPDATES, algorithm.batch), PolicyState(agent, None)
    rest = (build.model.termination, build.model.layout)
    model = PenalizedModel(build.ensemble, algorithm.pessimism(build), *rest)
    going_on = int(algorithm.continued * BRANCHES)
    sizes = (algorithm.horizon, BRANCHES, algorithm.imagined_rows, going_on)
    plan = Imagination(model, *sizes, algorithm.model_adversary(build))
    buffer = RingBuffer.empty(5, BRANCHES * algorithm.horizon, OBS, ACTION)
    adversary = plan.adversary.start(model) if plan.adversary else None
    return Frozen(data, UPDATES, algorithm.batch, plan), PolicyState(agent, buffer, adversary)


def run() -> list[Result]:
    """Time one epoch of each, in turns with Count-MORL's."""
    model, x = counted_model()
    build, works = Given(model, x[:ROWS]), {}
    for name in NAMES:
        algorithm = ALGORITHMS[name]()
        if "adversary" in {field.name for field in fields(algorithm)}:
            shorter = replace(algorithm.adversary, steps=UPDATES)  # type: ignore[attr-defined]
            algorithm = replace(algorithm, adversary=shorter)  # type: ignore[call-arg]
        frozen, state = prepared(algorithm, build)

        def work(frozen: Frozen = frozen, state: PolicyState = state) -> Any:
            copy = jax.tree.map(lambda leaf: jnp.copy(leaf) if eqx.is_array(leaf) else leaf, state)
            return jax.block_until_ready(epoch(frozen, copy, jr.key(2))[1])

        work()  # Compile.
        works[name] = work
    times = dict(zip(works, alternate(*works.values(), repeat=3), strict=True))
    base = times["count-morl"]
    return [
        Result(
            name=f"{name}: {UPDATES} updates with their rollouts",
            seconds=seconds,
            ratio=seconds / base,
            ratio_to="Count-MORL's",
        )
        for name, seconds in times.items()
    ]
