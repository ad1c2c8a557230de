"""`certificate`: a lower bound on a policy's true value, from counts alone, with its confidence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from countmorl.configs import check_types
from countmorl.errors import ConfigError
from countmorl.tabular import bounds
from countmorl.tabular.conservative import conservative_mdp
from countmorl.tabular.data import TabularData
from countmorl.tabular.estimate import best_of_class, maximum_likelihood
from countmorl.tabular.mdp import TabularMDP, dense
from countmorl.tabular.planning import evaluate_floored, start_value, visitation


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What a guarantee takes for granted. None of it can be seen in the data: it must be known."""

    rewards: bounds.Rewards = "logged"
    """logged: a reward is a fixed function of state, action and next state, read from the log.
    known: of state and action alone, as the paper has it (a little tighter)."""
    sampling: Literal["adaptive", "fixed"] = "adaptive"
    """adaptive: counts come from episodes. fixed: they were chosen before sampling (tighter)."""
    reward_range: tuple[float, float] | None = None
    """Least and greatest reward there can be. Default: those of the log, taken as the truth."""
    value_range: tuple[float, float] | None = None
    """Least and greatest discounted return that any episode can have from any state, however it
    goes (not its mean). Default: what rewards allow for ever; -1 1 where an episode pays once."""
    successors: int | None = None
    """Most outcomes that one pair can have. Default: any state."""

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("reward_range", "value_range"):
            given = getattr(self, name)
            if given is not None and not given[0] <= given[1]:
                raise ConfigError(f"`{name}` must be (least, greatest), got {given}.")
        if self.successors is not None and self.successors < 1:
            raise ConfigError(f"`successors` must be at least 1, got {self.successors}.")

    def values(self, data: TabularData, gamma: float) -> tuple[float, float]:
        """Least and greatest value of any state."""
        low, high = self.reward_range or data.reward_range
        if data.reward_range[0] < low or data.reward_range[1] > high:
            raise ConfigError(
                f"`reward_range` is {low:g} to {high:g}, but the log holds rewards from "
                f"{data.reward_range[0]:g} to {data.reward_range[1]:g}."
            )
        least, greatest = self.value_range or (low / (1 - gamma), high / (1 - gamma))
        if data.terminal.any():  # What has ended is worth 0.
            return min(least, 0.0), max(greatest, 0.0)
        return least, greatest

    def factor(self, data: TabularData, gamma: float) -> float:
        """What one unit of TV in one step can be worth (`bounds.coefficient`)."""
        low, high = self.values(data, gamma)
        return bounds.coefficient(span=high - low, gamma=gamma, rewards=self.rewards)


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """With probability `confidence` over the data, the policy's true value is at least `lower`."""

    lower: float
    confidence: float
    bound: Literal["multinomial", "finite class"]
    estimate: float
    """The value in the estimated model, which is not a bound on anything."""
    least: float
    """The value that no policy can be below; a certificate no higher says nothing."""
    mean_error: float
    """E over d_P_hat^pi of C: how thin the data is where the policy goes."""
    pairs: int
    """Pairs over which delta was shared."""

    @property
    def vacuous(self) -> bool:
        """Whether the bound is no better than what is known without data."""
        return self.lower <= self.least + 1e-9

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return {**asdict(self), "vacuous": self.vacuous}


def pair_errors(
    data: TabularData, *, delta: float, assume: Assumptions, models: int | None = None
) -> np.ndarray:
    """C(s, a) for all pairs at once, with probability 1 - delta, [states, actions].

    delta is shared among all pairs that the world has, seen or not. With `models` it is Corollary
    1's bound for a class of that size, else the multinomial bound. Ended states have no error.
    """
    each = bounds.shared_delta(delta, data.given_states * data.actions)
    counts = data.counts
    if models is not None:
        error = bounds.error_bound(counts, models=models, delta=each)
    else:
        twins = data.states > data.given_states
        outcomes = assume.successors or data.given_states * (2 if twins else 1)
        _check_successors(data, outcomes)
        bound = {
            "adaptive": bounds.multinomial_bound_adaptive,
            "fixed": bounds.multinomial_bound,
        }[assume.sampling]
        error = bound(counts, outcomes=outcomes, delta=each)
    return np.where(data.terminal[:, None], 0.0, error)


def certificate(
    data: TabularData,
    policy: np.ndarray,
    *,
    delta: float = 0.05,
    gamma: float = 0.95,
    assume: Assumptions | None = None,
    models: np.ndarray | None = None,
) -> Certificate:
    """Bound a policy's true value from below (Corollary 2 with a union bound over all pairs).

    The value of the conservative MDP, floored at the least possible value. It holds for every
    policy at once, so also for one that was planned on the same data. The value is that from the
    log's own starts. `models` is a finite class that holds the truth, [models, states * actions,
    states]; without one, nothing is assumed of the transitions but the number of outcomes.

    It holds for exact counts of a finite world. Counts of hashed continuous pairs join different
    pairs under one code, and nothing here carries over to them.
    """
    assume = assume or Assumptions()
    low = (assume.reward_range or data.reward_range)[0]
    model = maximum_likelihood(data, gamma=gamma, unseen_reward=low)
    if models is not None:
        if assume.rewards != "known":
            raise ConfigError(
                "A class of models says nothing about rewards that depend on the next state. With "
                "`models`, rewards must be known: Assumptions(rewards='known')."
            )
        model = _in_class(model, data, models)
    error = pair_errors(
        data, delta=delta, assume=assume, models=None if models is None else len(models)
    )
    factor, (least, _) = assume.factor(data, gamma), assume.values(data, gamma)
    floored = evaluate_floored(conservative_mdp(model, error, factor=factor), policy, least)
    return Certificate(
        lower=float(model.start @ floored),
        confidence=1 - delta,
        bound="multinomial" if models is None else "finite class",
        estimate=start_value(model, policy),
        least=float(least),
        mean_error=float((visitation(model, policy) * error).sum()),
        pairs=data.given_states * data.actions,
    )


def _in_class(model: TabularMDP, data: TabularData, models: np.ndarray) -> TabularMDP:
    """Put the class's likeliest model in place; ended states stay ended."""
    over = np.repeat(data.terminal, data.actions)[:, None]
    transition = np.where(over, dense(model.transition), best_of_class(data, models))
    return replace(model, transition=transition)


def _check_successors(data: TabularData, outcomes: int) -> None:
    pair, _ = data.outcomes.nonzero()
    most = int(np.bincount(pair, minlength=1).max())
    if most > outcomes:
        raise ConfigError(
            f"`successors` is {outcomes}, but one pair of the log has {most} different outcomes."
        )
