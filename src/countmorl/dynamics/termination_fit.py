"""Learning when a task ends, from the logged flags, with honest probabilities."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Array, Bool, Float

from countmorl.data.dataset import Dataset
from countmorl.dynamics.termination import LearnedTermination
from countmorl.fitting import AbstractFit
from countmorl.nets import MLP
from countmorl.scaling import Standardizer
from countmorl.types import Key, Metrics

RATE = 1e-3
BATCH = 256
UPDATES = 1000
HOLDOUT = 5000


class EndRows(eqx.Module):
    """Pairs with their next observation, joined and scaled, and whether the task ended there.

    Where the log does not hold what followed the last step of a task, pairs alone.
    """

    x: Float[Array, "rows inputs"]
    ended: Bool[Array, " rows"]
    holdout_x: Float[Array, "holdout inputs"]
    holdout_ended: Bool[Array, " holdout"]


class EndState(eqx.Module):
    """The classifier and its optimiser."""

    net: MLP
    opt_state: optax.OptState


def sees_next(dataset: Dataset) -> bool:
    """Whether every step that ended the task has a known next observation."""
    return bool(dataset.next_known[dataset.terminated].all())


def split_rows(dataset: Dataset, seed: int) -> tuple[EndRows, Standardizer]:
    """Hold out a tenth (at most 5000), evenly from ended and other rows."""
    step = dataset.transitions("critic")
    parts = (step.obs, step.action, *((step.next_obs,) if sees_next(dataset) else ()))
    x = np.concatenate(parts, axis=1)
    standardizer = Standardizer.fit(x)
    x = standardizer(x)
    order = np.random.default_rng(seed).permutation(len(x))
    order = order[np.argsort(~step.terminated[order], kind="stable")]  # Ended rows first,
    every = max(10, len(x) // HOLDOUT)  # so that each kind gives its share.
    held = np.zeros(len(x), bool)
    held[order[::every]] = True
    parts = (x[~held], step.terminated[~held], x[held], step.terminated[held])
    return EndRows(*(jnp.asarray(part) for part in parts)), standardizer


class TerminationFit(AbstractFit[EndState, LearnedTermination]):
    """Learns when the task ends, where no rule is known."""

    name = "termination"
    stream = 2
    epochs = 5
    updates = UPDATES

    def __init__(self, dataset: Dataset, seed: int) -> None:
        self.rows, self.standardizer = split_rows(dataset, seed)
        self.sees_next = sees_next(dataset)

    def init(self, *, key: Key) -> EndState:
        """A random classifier."""
        net = MLP.make((self.rows.x.shape[1], 128, 128, 1), activation="swish", key=key)
        return EndState(net, optax.adam(RATE).init(net))  # type: ignore[arg-type]

    def epoch(self, state: EndState, *, key: Key) -> tuple[EndState, Metrics]:
        """Classifier updates."""
        return fit_epoch(self.rows, state, key)

    def judge(self, state: EndState, epoch: int) -> dict[str, float]:
        """Held-out errors of the calibrated rule."""
        return quality(self.result(state), self.rows)

    def result(self, state: EndState) -> LearnedTermination:
        """The calibrated rule."""
        rule = calibrated(state, self.rows, self.standardizer)
        return LearnedTermination(rule.standardizer, rule.net, rule.temperature, self.sees_next)


@eqx.filter_jit(donate="all-except-first")
def fit_epoch(rows: EndRows, state: EndState, key: Key) -> tuple[EndState, Metrics]:
    """Updates on the cross-entropy, a proper score: its minimum is the true probability."""

    def loss(net: MLP, index: Array) -> Float[Array, ""]:
        return cross_entropy(net(rows.x[index])[:, 0], rows.ended[index])

    def step(state: EndState, step_key: Key) -> tuple[EndState, Array]:
        index = jr.randint(step_key, (BATCH,), 0, len(rows.x))
        value, gradient = jax.value_and_grad(loss)(state.net, index)
        change, opt_state = optax.adam(RATE).update(gradient, state.opt_state)
        return EndState(optax.apply_updates(state.net, change), opt_state), value  # type: ignore[arg-type]

    state, losses = jax.lax.scan(step, state, jr.split(key, UPDATES))
    return state, {"loss": losses.mean()}


def cross_entropy(logit: Float[Array, " rows"], ended: Bool[Array, " rows"]) -> Float[Array, ""]:
    """Mean negative log-probability of what happened."""
    return jnp.mean(jax.nn.softplus(jnp.where(ended, -logit, logit)))


@eqx.filter_jit
def calibrated(state: EndState, rows: EndRows, standardizer: Standardizer) -> LearnedTermination:
    """Calibrate by the temperature that suits the held-out rows best."""
    logit = state.net(rows.holdout_x)[:, 0]
    scales = jnp.logspace(-1, 1, 81)
    losses = jax.vmap(lambda scale: cross_entropy(logit / scale, rows.holdout_ended))(scales)
    return LearnedTermination(standardizer, state.net, scales[jnp.argmin(losses)])


def quality(rule: LearnedTermination, rows: EndRows) -> dict[str, float]:
    """Held-out errors: missed ends, false alarms, Brier score, calibration error (ten bins)."""
    logit = rule.net(rows.holdout_x)[:, 0] / rule.temperature
    ended, chance = np.asarray(rows.holdout_ended), np.asarray(jax.nn.sigmoid(logit))
    bins = np.minimum((chance * 10).astype(int), 9)
    gaps = [abs((chance - ended)[bins == b].sum()) for b in range(10)]
    missed = float((chance[ended] < 0.5).mean()) if ended.any() else 0.0
    return {
        "missed_ends": missed,
        "false_alarms": float((chance[~ended] >= 0.5).mean()) if (~ended).any() else 0.0,
        "brier": float(np.mean(np.square(chance - ended))),
        "calibration_error": float(np.sum(gaps) / len(ended)),
    }
