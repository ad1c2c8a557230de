"""Fitted Q evaluation: critics of a policy, learned from logged steps alone.

Q(s, a) <- r + gamma (1 - d) Q'(s', pi(s')) (Le et al., 2019), by an ensemble in which every member
sees its own draw of the episodes. The same is fitted to the log's own next actions: networks err
alike in both, so that the difference is worth more than either value.
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Array, Float
from scipy import stats

from countmorl import trees
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.nets import MLP, adam
from countmorl.scaling import Standardizer, reward_unit
from countmorl.types import Key

LONGEST = 200
"""Steps of a plain sum at the most: values are handed back step by step, and errors with them."""
WINDOW = 5
"""Epochs that a value is averaged over, and compared with as many before."""
STILL = 0.02
"""A value that moves by no more than this share of its size has settled."""
BALANCE = 4096
"""Rows by which the critics are balanced before each epoch."""


@dataclass(frozen=True)
class FQEConfig:
    """How much is fitted."""

    members: int = 5
    hidden: tuple[int, ...] = (64, 64)
    updates: int = 300
    batch: int = 256
    rate: float = 5e-4
    polyak: float = 0.01
    least: int = 10
    """Epochs before a value may be called settled."""
    most: int = 40


class Problem(eqx.Module):
    """Steps and starts, scaled. Read only."""

    x: Float[Array, "rows inputs"]
    after: Float[Array, "rows inputs"]
    """Next observation, and what the policy does there."""
    reward: Float[Array, " rows"]
    going: Float[Array, " rows"]
    """The discount; 0 where the task ended."""
    weight: Float[Array, "members rows"]
    """How often each member has drawn the row's episode."""
    start: Float[Array, "starts inputs"]
    start_weight: Float[Array, "members starts"]
    horizon: int | None = eqx.field(static=True)
    config: FQEConfig = eqx.field(static=True)


class Critics(eqx.Module):
    """What an epoch changes."""

    nets: MLP
    targets: MLP
    opt: optax.OptState


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """What came of it, in the log's rewards."""

    values: np.ndarray
    """Every member's value of the starts."""
    settled: bool
    change: float
    """How far the value has moved between the last two windows of epochs."""
    epochs: int
    critics: Critics
    scale: Standardizer
    size: float
    """What the critics' outputs are multiplied by."""

    @property
    def value(self) -> float:
        """Mean over the members."""
        return float(self.values.mean())

    def q(self, obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        """Mean value of pairs over the members."""
        x = np.concatenate([self.scale(obs), action], axis=1).astype(np.float32)
        return self.size * np.asarray(_mean_values(self.critics.nets, jnp.asarray(x)), np.float64)


def fit_q(
    logged: Logged,
    next_action: np.ndarray,
    start_action: np.ndarray,
    measure: Measure,
    *,
    config: FQEConfig | None = None,
    seed: int = 0,
) -> Fitted:
    """Fit critics to steps and what is done after each, until their value at the starts settles."""
    config = config or FQEConfig()
    problem, scale, size = _problem(logged, next_action, start_action, measure, config, seed)
    stream = jr.key(seed)
    state = _begin(problem, stream)
    history: list[np.ndarray] = []
    for epoch in range(1, config.most + 1):
        state, values = _epoch(problem, state, jr.fold_in(stream, epoch))
        history.append(np.asarray(values, np.float64))
        if epoch >= max(config.least, 2 * WINDOW) and _moved(history)[0]:
            break
    settled, change = _moved(history)
    return Fitted(
        values=size * np.mean(history[-WINDOW:], axis=0),
        settled=settled,
        change=size * change,
        epochs=len(history),
        critics=state,
        scale=scale,
        size=size,
    )


def interval(values: np.ndarray) -> tuple[float, float]:
    """Mean and so many deviations over bootstrapped members as Student's t says."""
    reach = float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1))
    return float(values.mean()) - reach, float(values.mean()) + reach


def _problem(
    logged: Logged,
    next_action: np.ndarray,
    start_action: np.ndarray,
    measure: Measure,
    config: FQEConfig,
    seed: int,
) -> tuple[Problem, Standardizer, float]:
    dataset = logged.dataset
    rows = np.flatnonzero(dataset.learnable)
    scale, unit = Standardizer.fit(dataset.obs), reward_unit(dataset.reward)
    # Values come out at the size of a reward, however far the measure looks ahead.
    far = measure.horizon if measure.horizon is not None else 1 / (1 - measure.discount)
    groups = len(logged.ends)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(groups, [1 / groups] * groups, config.members).astype(np.float32)
    join = lambda obs, action: np.concatenate([scale(obs), action], axis=1)  # noqa: E731
    weight = drawn[:, logged.group(rows)]
    start_weight = drawn[:, logged.group(logged.starts)]
    arrays = (
        join(dataset.obs[rows], logged.actions[rows]),
        join(dataset.next_obs[rows], next_action[rows]),
        dataset.reward[rows] / (unit * far),
        np.where(dataset.terminated[rows], 0.0, measure.discount),
        weight / weight.mean(axis=1, keepdims=True),
        join(dataset.obs[logged.starts], start_action),
        start_weight / start_weight.sum(axis=1, keepdims=True),
    )
    x, after, reward, going, weight, start, start_weight = (
        jnp.asarray(each, jnp.float32) for each in arrays
    )
    parts = (x, after, reward, going, weight, start, start_weight, measure.horizon, config)
    return Problem(*parts), scale, unit * far


@eqx.filter_jit
def _begin(problem: Problem, key: Key) -> Critics:
    config, inputs = problem.config, problem.x.shape[1] + (problem.horizon is not None)
    sizes = (inputs, *config.hidden, 1)
    nets = jax.vmap(lambda k: MLP.make(sizes, norm=True, key=k))(jr.split(key, config.members))
    return Critics(nets, jax.tree.map(jnp.copy, nets), optax.adam(config.rate).init(nets))  # type: ignore[arg-type]


def _values(nets: MLP, x: Float[Array, "batch inputs"]) -> Float[Array, "members batch"]:
    return jax.vmap(lambda net: net(x)[..., 0])(nets)


@eqx.filter_jit
def _mean_values(nets: MLP, x: Float[Array, "batch inputs"]) -> Float[Array, " batch"]:
    return trees.in_blocks(lambda rows, _: _values(nets, rows).mean(axis=0), x)


def _timed(
    problem: Problem, x: Float[Array, "batch inputs"], at: Float[Array, " batch"]
) -> Float[Array, "batch timed"]:
    """Of a plain sum, pairs are told how much of the time is over."""
    if problem.horizon is None:
        return x
    return jnp.concatenate([x, 2 * at[:, None] / problem.horizon - 1], axis=1)


@eqx.filter_jit(donate="all-except-first")
def _epoch(problem: Problem, state: Critics, key: Key) -> tuple[Critics, Float[Array, " members"]]:
    """Balance the critics, take some gradient steps, and tell their values at the starts."""
    config, rows = problem.config, len(problem.reward)
    if problem.horizon is None:
        state = _balanced(problem, state, jr.fold_in(key, 1))

    def step(state: Critics, step_key: Key) -> tuple[Critics, None]:
        row_key, time_key = jr.split(step_key)
        pick = jr.randint(row_key, (config.batch,), 0, rows)
        at = jnp.zeros(config.batch)
        going = problem.going[pick]
        if problem.horizon is not None:
            at = jr.randint(time_key, (config.batch,), 0, problem.horizon).astype(jnp.float32)
            going = jnp.where(at + 1 < problem.horizon, going, 0.0)
        x = _timed(problem, problem.x[pick], at)
        ahead = _values(state.targets, _timed(problem, problem.after[pick], at + 1))
        y = problem.reward[pick] + going * ahead

        def loss(nets: MLP) -> Float[Array, ""]:
            return jnp.sum(problem.weight[:, pick] * jnp.square(_values(nets, x) - y)) / len(x)

        nets, opt = adam(config.rate, jax.grad(loss)(state.nets), state.opt, state.nets)
        return Critics(nets, trees.polyak(state.targets, nets, config.polyak), opt), None

    state, _ = jax.lax.scan(step, state, jr.split(key, config.updates))
    start = _timed(problem, problem.start, jnp.zeros(len(problem.start)))
    return state, jnp.sum(problem.start_weight * _values(state.nets, start), axis=1)


def _balanced(problem: Problem, state: Critics, key: Key) -> Critics:
    """Shift every critic so that its mean error is 0: c = mean error / mean (1 - gamma (1 - d)).

    The height of all values is what learning from targets finds slowest, in thousands of steps
    where the discount looks far ahead. It is known in closed form.
    """
    pick = jr.randint(key, (BALANCE,), 0, len(problem.reward))
    going, weight = problem.going[pick], problem.weight[:, pick]
    here, ahead = (_values(state.nets, x[pick]) for x in (problem.x, problem.after))
    error = jnp.mean(weight * (problem.reward[pick] + going * ahead - here), axis=1)
    shift = error / jnp.mean(weight * (1 - going), axis=1)

    def moved(nets: MLP) -> MLP:
        return eqx.tree_at(lambda n: n.biases[-1], nets, nets.biases[-1] + shift[:, None])

    return Critics(moved(state.nets), moved(state.targets), state.opt)


def _moved(history: list[np.ndarray]) -> tuple[bool, float]:
    """Whether the mean value has settled, and how far it moved between two windows of epochs."""
    if len(history) < 2 * WINDOW:
        return False, float("inf")
    late, early = (
        np.mean(history[-WINDOW:], axis=0),
        np.mean(history[-2 * WINDOW : -WINDOW], axis=0),
    )
    change = abs(float(late.mean() - early.mean()))
    if not np.isfinite(change):
        return False, float("inf")
    error = float(late.std(ddof=1)) if len(late) > 1 else 0.0
    return change <= max(STILL * abs(float(late.mean())), 0.25 * error), change
