"""Do approximate counts equal true counts (Section 5.2.1)? The learned codes on a grid world.

Ensemble, encoders, codes and tables are those of continuous control. What differs is what the
networks see while they are fitted, see `CountsConfig` and docs/gridworld.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from countmorl.collecting.qlearning import Steps
from countmorl.counting import fit as codes_fit
from countmorl.counting.base import CodesConfig
from countmorl.counting.codes import Autoencoder
from countmorl.counting.estimate import SIGNS, CountEstimate
from countmorl.counting.learned import CodeCounter
from countmorl.counting.table import CountTable
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import (
    EnsembleConfig,
    EnsembleFit,
    ModelRows,
    Scales,
    keep_better,
    split_rows,
)
from countmorl.envs.gridworld import World
from countmorl.errors import ConfigError
from countmorl.fitting import AbstractFit, run_fit
from countmorl.scaling import Standardizer
from countmorl.studies.collisions import Collisions, find_collisions, spoils
from countmorl.studies.multihot import Drawing, drawn_rows, hot_pairs, pair_counts
from countmorl.types import Key, Metrics


@dataclass(frozen=True, kw_only=True)
class CountsConfig:
    """How codes are fitted on a grid world."""

    bits: int = 20
    """Length of the code (d)."""
    fit_rows: int = 8000
    """Rows of the log on which the model is fitted; all rows of the log are counted."""
    drawing: Drawing = "evenly"
    """evenly: draw each logged pair equally often; as-logged: each row (continuous control)."""
    fit_pairs: Literal["all", "logged"] = "all"
    """Pairs that the encoders and the scale of the inputs are fitted on. Neither needs an outcome,
    so both can take all pairs of a finite world. With `logged`, as in continuous control, a pair
    that was never logged may share the code of one that was."""
    noise: float = 0.5
    """Noise on the bottleneck while fitting (deviation); 0 in continuous control."""
    model_epochs: int = 10
    """Epochs of the model, at the most."""
    updates: int = 500
    """Encoder updates in one epoch. No epoch follows once all pairs have codes of their own."""
    epochs: int = 20
    """Epochs of the encoders, at the most."""
    starts: int = 2
    """Random encoders to start from, at the most. A further one is used where pairs still share a
    code after all epochs, and is reported."""
    alpha: float = 1.0
    """Deviations between the mean count and LC or UC (alpha)."""

    def __post_init__(self) -> None:
        for name in ("bits", "model_epochs", "updates", "epochs", "starts"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1, got {getattr(self, name)}.")
        self.codes  # noqa: B018  (checks bits and noise)

    @property
    def model(self) -> EnsembleConfig:
        """The ensemble of continuous control, fitted in fewer steps: few pairs are soon learned."""
        return EnsembleConfig(
            learning_rate=1e-3, decay=False, least_steps=1, max_epochs=self.model_epochs
        )

    @property
    def codes(self) -> CodesConfig:
        """The paper's encoders of continuous control, with noise and smaller batches."""
        sizes = {"bits": self.bits, "fit_updates": self.updates, "fit_batch": 64}
        return CodesConfig(**sizes, fit_noise=self.noise, follow="pairs")


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """True and approximate counts of all pairs of one world, for one seed."""

    world: World
    seed: int
    bits: int
    true: np.ndarray
    """n(s, a), [pairs]."""
    members: np.ndarray
    """Count of each elite's code, [elites, pairs]."""
    estimates: dict[str, np.ndarray]
    """LC, AVG and UC, [pairs] each."""
    collisions: tuple[Collisions, ...]
    """For each elite, the pairs that share a code and whose count is wrong for it."""
    updates: int
    """Encoder updates until all pairs had codes of their own, or all that were allowed."""
    restarts: int
    """How often the encoders were fitted anew, from other random weights, because some collided."""
    model_error: float
    """Mean square error of the elites on held-out rows."""
    seconds: float
    cpu_seconds: float

    @property
    def errors(self) -> dict[str, float]:
        """Largest error over all pairs: of any elite, and of LC, AVG and UC."""
        approximate = {"members": self.members, **self.estimates}
        return {name: float(np.abs(n - self.true).max()) for name, n in approximate.items()}

    @property
    def error(self) -> float:
        """The largest of all errors."""
        return max(self.errors.values())

    @property
    def wrong(self) -> int:
        """Pairs whose count is wrong for some elite."""
        return int((self.members != self.true).any(axis=0).sum())


def compare(world: World, steps: Steps, config: CountsConfig, *, seed: int) -> Comparison:
    """Fit ensemble and encoders on a log, count all its rows, and compare every pair."""
    wall, cpu = time.perf_counter(), time.process_time()
    dataset = drawn_rows(world, steps, config.fit_rows, drawing=config.drawing, seed=seed)
    rows, scales = split_rows(dataset, config.model, seed)
    if config.fit_pairs == "all":
        rows, scales = _rescaled(rows, scales, Standardizer.fit(hot_pairs(world)))
    ensemble = run_fit(EnsembleFit(rows, scales, config.model), seed=seed)
    x = pair_inputs(world, ensemble)
    if config.fit_pairs == "all":
        rows = eqx.tree_at(lambda rows: rows.x, rows, x)
    autoencoders, updates, restarts = _fit_codes(ensemble, rows, x, config, seed=seed)
    true = pair_counts(world, steps)
    words, _ = codes_fit.encode(ensemble, autoencoders, x)
    counter = CodeCounter(autoencoders=autoencoders, tables=count_pairs(words, true))
    members = counter.counts(x, ensemble.trunks(x))
    estimate = CountEstimate.of(members)
    return Comparison(
        world=world,
        seed=seed,
        bits=config.bits,
        true=true,
        members=np.asarray(members),
        estimates={k: np.asarray(estimate.count(k, config.alpha)) for k in SIGNS},  # type: ignore[arg-type]
        collisions=tuple(spoils(find_collisions(member), true) for member in words),
        updates=updates,
        restarts=restarts,
        model_error=float(ensemble.holdout_error[ensemble.elites].mean()),
        seconds=time.perf_counter() - wall,
        cpu_seconds=time.process_time() - cpu,
    )


def pair_inputs(world: World, ensemble: Ensemble) -> Float[Array, "pairs inputs"]:
    """All pairs as the networks read them: multi-hot and standardised."""
    return ensemble.standardizer(jnp.asarray(hot_pairs(world)))


def count_pairs(words: np.ndarray, counts: np.ndarray) -> tuple[CountTable, ...]:
    """Count a log by encoding each logged pair once and weighting its code by n(s, a).

    Equal rows have equal codes, so this is the table that counting every row would give.
    """
    logged = counts > 0
    return tuple(CountTable.of(member[logged], counts[logged]) for member in words)


def _rescaled(rows: ModelRows, old: Scales, new: Standardizer) -> tuple[ModelRows, Scales]:
    """Give the inputs another scale."""
    x, holdout_x = (new(old.inputs.invert(part)) for part in (rows.x, rows.holdout_x))
    return ModelRows(x, rows.y, holdout_x, rows.holdout_y), Scales(new, old.targets)


class CodesState(eqx.Module):
    """The encoders as they are, and the best of each elite so far."""

    inner: codes_fit.CodesState
    best: Autoencoder
    colliding: Int[Array, " elites"]
    """Pairs that share a code with another, for the best encoder of each elite."""
    updates: Int[Array, ""]


class SeparatingFit(AbstractFit[CodesState, CodesState]):
    """Fits encoders until each elite has had a code for each pair.

    Of each elite the encoder with the fewest colliding pairs is kept, as the best weights of each
    member are. True counts play no part in it.
    """

    def __init__(
        self,
        ensemble: Ensemble,
        rows: ModelRows,
        pairs: Float[Array, "pairs inputs"],
        config: CountsConfig,
        attempt: int = 0,
        before: CodesState | None = None,
    ) -> None:
        self.inner = codes_fit.CodesFit(ensemble, rows, config.codes, config.bits, attempt)
        self.name, self.stream = self.inner.name, self.inner.stream
        self.ensemble, self.pairs, self.config = ensemble, pairs, config
        self.before, self.epochs, self.updates = before, config.epochs, config.updates

    def init(self, *, key: Key) -> CodesState:
        """Random encoders; the best are those of an earlier start, where there was one."""
        inner = self.inner.init(key=key)
        if self.before is not None:
            return eqx.tree_at(lambda state: state.inner, self.before, inner)
        none = jnp.full(len(self.ensemble.elites), len(self.pairs) + 1, jnp.int32)
        best = jax.tree.map(jnp.copy, inner.autoencoders)
        return CodesState(inner, best, none, jnp.zeros((), jnp.int32))

    def epoch(self, state: CodesState, *, key: Key) -> tuple[CodesState, Metrics]:
        """Encoder updates; then a look at which pairs still share a code."""
        inner, metrics = self.inner.epoch(state.inner, key=key)
        words, _ = codes_fit.encode(self.ensemble, inner.autoencoders, self.pairs)
        shared = [sum(map(len, find_collisions(member))) for member in words]
        colliding = jnp.asarray(shared, jnp.int32)
        state = CodesState(
            inner,
            keep_better(colliding < state.colliding, inner.autoencoders, state.best),
            jnp.minimum(colliding, state.colliding),
            state.updates + self.config.updates,
        )
        return state, metrics

    def finished(self, state: CodesState) -> bool:
        """Stop once no pairs share a code."""
        return not bool(state.colliding.any())

    def result(self, state: CodesState) -> CodesState:
        """The best encoders, and how they came about."""
        return state


def _fit_codes(
    ensemble: Ensemble,
    rows: ModelRows,
    pairs: Float[Array, "pairs inputs"],
    config: CountsConfig,
    *,
    seed: int,
) -> tuple[Autoencoder, int, int]:
    """Fit from one start after the other; return encoders, updates and how many starts failed."""
    state = None
    for attempt in range(config.starts):
        fit = SeparatingFit(ensemble, rows, pairs, config, attempt, state)
        state = run_fit(fit, seed=seed)
        if fit.finished(state):
            return state.best, int(state.updates), attempt
    assert state is not None
    return state.best, int(state.updates), config.starts - 1
