"""Do approximate counts equal true counts (Section 5.2.1)? The learned codes on a grid world.

Ensemble, encoders, codes and tables are those of continuous control. What differs is what the
networks see while they are fitted, see `CountsConfig` and docs/gridworld.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float

from countmorl.collecting.qlearning import Steps
from countmorl.counting import fit as codes_fit
from countmorl.counting.codes import Autoencoder
from countmorl.counting.estimate import SIGNS, CountEstimate
from countmorl.counting.fit import CodesConfig
from countmorl.counting.learned import CodeCounter
from countmorl.counting.table import CountTable
from countmorl.dynamics import fit as model_fit
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleConfig, Rows
from countmorl.envs.gridworld import World
from countmorl.errors import ConfigError
from countmorl.scaling import Standardizer
from countmorl.studies.collisions import Collisions, find_collisions, spoils
from countmorl.studies.multihot import Drawing, drawn_rows, hot_pairs, pair_counts
from countmorl.types import Key


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
        """The encoders of continuous control, with noise and smaller batches."""
        return CodesConfig(
            bits=self.bits, fit_updates=self.updates, fit_batch=64, fit_noise=self.noise
        )


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
    model_key, codes_key = jr.split(jr.key(seed))
    dataset = drawn_rows(world, steps, config.fit_rows, drawing=config.drawing, seed=seed)
    rows, inputs = model_fit.split_rows(dataset, config.model, seed)
    if config.fit_pairs == "all":
        rows, inputs = _rescaled(rows, inputs, Standardizer.fit(hot_pairs(world)))
    ensemble = _fit_model(rows, inputs, config.model, key=model_key)
    x = pair_inputs(world, ensemble)
    seen = x if config.fit_pairs == "all" else rows.x
    autoencoders, updates, restarts = _fit_codes(ensemble, seen, x, config, key=codes_key)
    true = pair_counts(world, steps)
    words, _ = codes_fit.encode(ensemble, autoencoders, x)
    counter = CodeCounter(autoencoders, count_pairs(words, true))
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
    return ensemble.inputs(jnp.asarray(hot_pairs(world)))


def count_pairs(words: np.ndarray, counts: np.ndarray) -> tuple[CountTable, ...]:
    """Count a log by encoding each logged pair once and weighting its code by n(s, a).

    Equal rows have equal codes, so this is the table that counting every row would give.
    """
    logged = counts > 0
    return tuple(CountTable.of(member[logged], counts[logged]) for member in words)


def _rescaled(rows: Rows, old: Standardizer, new: Standardizer) -> tuple[Rows, Standardizer]:
    """Give the inputs another scale."""
    x, holdout_x = (new(old.invert(part)) for part in (rows.x, rows.holdout_x))
    return Rows(x, rows.y, holdout_x, rows.holdout_y), new


def _fit_model(rows: Rows, inputs: Standardizer, config: EnsembleConfig, *, key: Key) -> Ensemble:
    start_key, epoch_key = jr.split(key)
    state = model_fit.start(rows, config, key=start_key)
    for epoch in range(config.max_epochs):
        state, _ = model_fit.fit_epoch((rows, config, None), state, jr.fold_in(epoch_key, epoch))
        if int(state.stale) > config.patience:
            break
    return model_fit.finish(state, inputs, config.elites)


def _fit_codes(
    ensemble: Ensemble,
    seen: Float[Array, "rows inputs"],
    pairs: Float[Array, "pairs inputs"],
    config: CountsConfig,
    *,
    key: Key,
) -> tuple[Autoencoder, int, int]:
    """Fit until each elite had a code for each pair; return encoders, updates and new starts.

    Of each elite the encoder with the fewest colliding pairs is kept, as the best weights of each
    member are. True counts play no part in it.
    """
    best, fewest, done = None, np.full(len(ensemble.elites), len(pairs) + 1), 0
    for attempt in range(config.starts):
        start_key, epoch_key = jr.split(jr.fold_in(key, attempt))
        state = codes_fit.start(
            codes_fit.feature_scales(ensemble, seen),
            seen.shape[1],
            config.bits,
            config.codes,
            key=start_key,
        )
        for epoch in range(config.epochs):
            frozen = (ensemble, seen, config.codes)
            state, _ = codes_fit.fit_epoch(frozen, state, jr.fold_in(epoch_key, epoch))
            words, _ = codes_fit.encode(ensemble, state.autoencoders, pairs)
            colliding = np.array([sum(map(len, find_collisions(each))) for each in words])
            better, done = colliding < fewest, done + config.updates
            best = _keep(better, state.autoencoders, best)
            fewest = np.minimum(colliding, fewest)
            if not fewest.any():
                return best, done, attempt
    assert best is not None
    return best, done, config.starts - 1


def _keep(better: np.ndarray, new: Autoencoder, old: Autoencoder | None) -> Autoencoder:
    """Take a copy of the new encoders of elites that got better; else the old."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(better.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, new, new if old is None else old)
