"""Fitting the ensemble: a bootstrap per member, early stopping, the best weights of each kept."""

from dataclasses import dataclass
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

from countmorl.configs import added, at_least, check_types, positive
from countmorl.data.dataset import Dataset
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import AbstractModelTerm, GaussianNet, taught
from countmorl.dynamics.layout import Layout
from countmorl.errors import ConfigError
from countmorl.fitting import AbstractFit
from countmorl.nets import CosineDecay
from countmorl.scaling import Standardizer
from countmorl.types import Key, Metrics

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class EnsembleConfig:
    """The dynamics ensemble and how it is fitted."""

    members: int = 7
    """Networks in the ensemble (N)."""
    elites: int = 5
    """Members with the lowest hold-out error, which are rolled out and counted."""
    width: int = 200
    """Units of each of the four hidden layers."""
    learning_rate: float = 3e-3
    """Step size of Adam at the start."""
    decay: bool = True
    """Let the step size fall to zero along half a cosine over `max_epochs`."""
    batch: int = 256
    """Rows of one gradient step, for each member its own."""
    holdout: int = 1000
    """Transitions held out for early stopping (at most a fifth of the data)."""
    patience: int = 5
    """Stop after more than this many epochs in which no member improved by one per cent."""
    max_epochs: int = 40
    """Stop at the latest after this many epochs. The step size falls over all of them, so a
    hold-out error that stands still at the end does not mean that more would not help:
    HalfCheetah wants about 150,000 steps."""
    least_steps: int = 300
    """Gradient steps of one epoch at the least: few data are passed over more than once."""
    decays: tuple[float, ...] = (2.5e-5, 5e-5, 7.5e-5, 7.5e-5, 1e-4)
    """Weight decay of each layer."""
    log_var_min: float = -2.0
    """Where the floor of the log-variance begins, which is learned. A low one lets the targets that
    are easiest to predict outweigh all others from the start: at the papers' -10 Hopper's model
    errs 1.5 to 2 times as much."""
    scale_targets: bool = True
    """Standardise what is predicted, so that units do not matter. The papers do not: their weights
    of a model's uncertainty are in the log's own units."""
    norm: bool = added(False, default=True)
    """Normalise each hidden layer over its units before its swish (layer normalisation, with gains
    that are learned), so that features stay bounded wherever a rollout goes. The papers do not, and
    err more: a fifth on held-out rows, three times as much after 200 steps (docs/judging.md)."""

    def __post_init__(self) -> None:
        check_types(self)
        if not 1 <= self.elites <= self.members:
            raise ConfigError(
                f"`elites` must lie between 1 and `members` ({self.members}), got {self.elites}."
            )
        at_least(self, width=1, batch=1, holdout=1, patience=0, max_epochs=1, least_steps=1)
        positive(self, "learning_rate")
        if not -50 <= self.log_var_min < 0.5:
            raise ConfigError(
                "`log_var_min` must be at least -50 and below 0.5, where its ceiling begins, got "
                f"{self.log_var_min:g}."
            )
        if len(self.decays) != 5:
            raise ConfigError(f"`decays` needs five numbers, got {len(self.decays)}.")
        if not all(0 <= decay < float("inf") for decay in self.decays):
            raise ConfigError(f"`decays` must be finite and not below 0, got {self.decays}.")

    def passes(self, rows: int) -> int:
        """How often an epoch passes over the data."""
        return -(-self.least_steps // max(1, rows // self.batch))

    def steps(self, rows: int) -> int:
        """Gradient steps of one epoch."""
        return max(1, self.passes(rows) * rows // self.batch)

    def optimizer(self, rows: int) -> optax.GradientTransformation:
        """Adam, its step size falling over the whole fit."""
        rate, steps = self.learning_rate, self.max_epochs * self.steps(rows)
        return optax.adam(CosineDecay(rate, steps) if self.decay else rate)


class ModelRows(eqx.Module):
    """Training and hold-out rows on the device, inputs and targets standardised. Read only."""

    x: Float[Array, "rows inputs"]
    y: Float[Array, "rows targets"]
    holdout_x: Float[Array, "holdout inputs"]
    holdout_y: Float[Array, "holdout targets"]
    known: Bool[Array, " rows"] | None = None
    """False where an episode ended and the log has no next observation: such rows teach their
    reward alone. None where all rows have one."""
    holdout_known: Bool[Array, " holdout"] | None = None


class Scales(eqx.Module):
    """What a model's inputs and targets are standardised by."""

    inputs: Standardizer
    targets: Standardizer


class FitState(eqx.Module):
    """Everything the fitting needs to go on exactly."""

    members: GaussianNet
    opt_state: optax.OptState
    bootstrap: Int[Array, "members rows"]
    best: GaussianNet
    best_error: Float[Array, " members"]
    stale: Int[Array, ""]
    """Epochs since a member improved."""


def split_rows(dataset: Dataset, config: EnsembleConfig, seed: int) -> tuple[ModelRows, Scales]:
    """Hold out some transitions, scale inputs and targets by the rest.

    A step that ended the task needs no next observation to teach its reward.
    """
    dataset.require_successors()
    step, known = dataset.transitions("critic"), dataset.known_among("critic")
    rest, held = split_order(len(step.reward), config, seed)
    x = np.concatenate([step.obs, step.action], axis=1)
    y = np.concatenate([Layout.of(dataset).changes(*step[::3]), step.reward[:, None]], axis=1)
    inputs, targets = Standardizer.fit(x[rest]), Standardizer.identity(y.shape[1])
    if config.scale_targets:
        targets = target_scales(y[rest], known[rest])
    x, y = inputs(x), targets(y)
    parts = [values[rows] for rows in (rest, held) for values in (x, y)]
    if not known.all():
        parts += [known[rest], known[held]]
    return ModelRows(*(jnp.asarray(part) for part in parts)), Scales(inputs, targets)


def split_order(
    count: int, config: EnsembleConfig, seed: int
) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " holdout"]]:
    """Which of so many rows a model is fitted on, in its own order, and which are held out."""
    held = min(config.holdout, count // 5)
    if held < 1:
        raise ConfigError(f"A model needs at least 5 usable rows, got {count}.")
    order = np.random.default_rng(seed).permutation(count)
    return order[held:], order[:held]


def target_scales(y: np.ndarray, known: np.ndarray) -> Standardizer:
    """Scale changes by the rows that have them, rewards by all; what never varies is exact."""
    changes = Standardizer.fit(y[known, :-1], exact=True)
    rewards = Standardizer.fit(y[:, -1:], exact=True)
    both = jnp.concatenate
    return Standardizer(both([changes.mean, rewards.mean]), both([changes.std, rewards.std]))


class EnsembleFit(AbstractFit[FitState, Ensemble]):
    """Fits the ensemble until no member improves any more."""

    shown = ("loss", "holdout")
    term: AbstractModelTerm | None = None
    """What a method adds to the members' loss."""

    def __init__(
        self, rows: ModelRows, scales: Scales, config: EnsembleConfig, round_: int = 0
    ) -> None:
        self.name, self.stream = ("model", 1) if round_ == 0 else (f"model-{round_}", 100 + round_)
        self.rows, self.scales = rows, scales
        self.config, self.epochs = config, config.max_epochs
        self.updates = config.steps(len(rows.x))

    @classmethod
    def of(
        cls, dataset: Dataset, config: EnsembleConfig, *, seed: int, round_: int = 0
    ) -> "EnsembleFit":
        """Fit a dataset's transitions, some of them held out."""
        return cls(*split_rows(dataset, config, seed), config, round_)

    def init(self, *, key: Key) -> FitState:
        """Draw the members and their bootstraps."""
        net_key, boot_key = jr.split(key)
        config, count = self.config, len(self.rows.x)
        sizes = (self.rows.x.shape[1], *(config.width,) * 4, self.rows.y.shape[1])
        own = {"log_var_min": config.log_var_min, "norm": config.norm}
        make = lambda k: GaussianNet.make(sizes, **own, key=k)  # noqa: E731
        members = jax.vmap(make)(jr.split(net_key, config.members))
        return FitState(
            members=members,
            opt_state=config.optimizer(count).init(members),  # type: ignore[arg-type]
            bootstrap=jr.randint(boot_key, (config.members, count), 0, count),
            best=jax.tree.map(jnp.copy, members),
            best_error=jnp.full(config.members, jnp.inf),
            stale=jnp.zeros((), jnp.int32),
        )

    def epoch(self, state: FitState, *, key: Key) -> tuple[FitState, Metrics]:
        """One pass over every member's bootstrap."""
        return fit_epoch((self.rows, self.config, self.term), state, key)

    def judge(self, state: FitState, epoch: int) -> dict[str, float]:
        """Mean error of the elites so far."""
        best = np.sort(np.asarray(state.best_error))[: self.config.elites]
        return {"holdout": float(best.mean())}

    def finished(self, state: FitState) -> bool:
        """Stop when patience is over."""
        return int(state.stale) > self.config.patience

    def result(self, state: FitState) -> Ensemble:
        """The best weights of each member, ranked."""
        order = jnp.argsort(state.best_error)[: self.config.elites]
        inputs, targets = self.scales.inputs, self.scales.targets
        return Ensemble(state.best, inputs, targets, order, state.best_error)

    def checked(self, result: Ensemble) -> Ensemble:
        """Its elites must be members."""
        return result.checked()


@eqx.filter_jit(donate="all-except-first")
def fit_epoch(
    frozen: tuple[ModelRows, EnsembleConfig, AbstractModelTerm | None], state: FitState, key: Key
) -> tuple[FitState, Metrics]:
    """Pass over every member's bootstrap in a new order; then judge on the hold-out rows.

    One order serves all members: what stands at a place of their bootstraps is drawn for each.
    """
    rows, config, term = frozen
    optimizer, steps = config.optimizer(len(rows.x)), config.steps(len(rows.x))
    places = jr.permutation(key, config.passes(len(rows.x)) * len(rows.x)) % len(rows.x)
    taken = places[: steps * config.batch]  # Fewer rows than a batch make short steps.
    batches = state.bootstrap[:, taken].reshape(config.members, steps, -1).swapaxes(0, 1)

    def loss(members: GaussianNet, index: Int[Array, "members batch"], at: Array) -> Array:
        known = lambda pick: None if rows.known is None else rows.known[pick]  # noqa: E731
        one = lambda m, pick: m.loss(rows.x[pick], rows.y[pick], config.decays, known(pick))  # noqa: E731
        fit = jnp.sum(jax.vmap(one)(members, index))
        return fit if term is None else fit + term.at(at, members, key=key)

    def step(carry: tuple, batch: tuple[Array, Array]) -> tuple[tuple, Float[Array, ""]]:
        members, opt_state = carry
        value, gradient = jax.value_and_grad(loss)(members, *batch)
        change, opt_state = optimizer.update(gradient, opt_state)
        return (optax.apply_updates(members, change), opt_state), value

    (members, opt_state), losses = jax.lax.scan(
        step, (state.members, state.opt_state), (batches, jnp.arange(steps))
    )
    error = holdout_error(members, rows)
    improved = error < 0.99 * state.best_error
    state = FitState(
        members=members,
        opt_state=opt_state,
        bootstrap=state.bootstrap,
        best=keep_better(improved, members, state.best),
        best_error=jnp.where(improved, error, state.best_error),
        stale=jnp.where(improved.any(), jnp.zeros_like(state.stale), state.stale + 1),
    )
    loss_each = jnp.mean(losses) / config.members
    return state, {"loss": loss_each, "holdout_error": error}


def holdout_error(members: GaussianNet, rows: ModelRows) -> Float[Array, " members"]:
    """Mean squared error of each member's mean on the hold-out rows.

    Targets are standardised: 1 is what their means would have.
    """

    def one(member: GaussianNet) -> Float[Array, ""]:
        mean, _ = member.head(member.trunk(rows.holdout_x))
        square = jnp.square(mean - rows.holdout_y)
        if rows.holdout_known is None:
            return jnp.mean(square)
        return jnp.mean(square, where=taught(rows.holdout_known, square))

    return jax.vmap(one)(members)


def keep_better(improved: Bool[Array, " members"], new: T, old: T) -> T:
    """Take the new weights of members that improved, every part of them; else the old."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(improved.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, new, old)
