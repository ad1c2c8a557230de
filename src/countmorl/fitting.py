"""The seam of everything that is fitted: a state, an epoch, a result.

A fit runs in memory, by `run_fit`, or as a durable stage of a run, by `training.stages.Stages.do`:
the same random numbers, the same result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.random as jr

from countmorl.runtime.policy import Policy
from countmorl.types import Key, Metrics

State = TypeVar("State")
Result = TypeVar("Result")


class AbstractFit(ABC, Generic[State, Result]):
    """One fit. State and result are pytrees of arrays; keys are handed in, so none is stored."""

    name: str
    """One word for the progress line, the metrics and the result's file."""
    stream: int
    """Number folded into the seed, fixed for ever, so that a new fit shifts no other."""
    epochs: int
    """How many epochs the fit lasts at the most."""
    updates: int = 0
    """Gradient steps of one epoch, for the log's updates per second."""
    shown: tuple[str, ...] = ("loss",)
    """Metrics on the progress line."""

    @abstractmethod
    def init(self, *, key: Key) -> State:
        """Make the first state."""

    @abstractmethod
    def epoch(self, state: State, *, key: Key) -> tuple[State, Metrics]:
        """Go on by one epoch; the old state is used up."""

    def finished(self, state: State) -> bool:
        """Tell whether the fit may end before its last epoch."""
        return False

    def judge(self, state: State, epoch: int) -> dict[str, Any]:
        """Return more numbers for the metrics, measured outside compiled code."""
        return {}

    def remembering(self, state: State, epoch: int, judged: dict[str, Any]) -> State:
        """Take note of what `judge` has found: a fit that goes on knows no more than its state."""
        return state

    def limits(self) -> dict[str, float]:
        """Metrics, and the sizes beyond which they show that the fit has diverged."""
        return {}

    def policy(self, state: State) -> Policy | None:
        """Return what can act already, where a policy is fitted; others read it meanwhile."""
        return None

    def offered(self, state: State) -> Policy | None:
        """Return the policy to hand out, where that is not the one as it is now."""
        return self.policy(state)

    def kept(self, epoch: int) -> bool:
        """Tell whether the policy of this epoch is one to choose from later."""
        return False

    @abstractmethod
    def result(self, state: State) -> Result:
        """Return what comes of it."""

    def checked(self, result: Result) -> Result:
        """Return a result out of a file; a `ValueError` where its numbers cannot be one."""
        return result


Do = Callable[[AbstractFit[Any, Any]], Any]
"""Whatever carries out a fit and gives its result."""


def stream_of(fit: AbstractFit[Any, Any], seed: int) -> Key:
    """The random numbers that are a fit's own."""
    return jr.fold_in(jr.key(seed), fit.stream)


def first_state(fit: AbstractFit[State, Any], stream: Key) -> State:
    """The state before the first epoch."""
    # One compiled program instead of one for every small operation.
    return eqx.filter_jit(lambda key: strong(fit.init(key=key)))(jr.fold_in(stream, 0))


def run_fit(fit: AbstractFit[Any, Result], *, seed: int) -> Result:
    """Carry out a fit in memory and return its result."""
    stream = stream_of(fit, seed)
    state = first_state(fit, stream)
    for epoch in range(1, fit.epochs + 1):
        state, _ = fit.epoch(state, key=jr.fold_in(stream, epoch))
        if fit.finished(state):
            break
    return eqx.filter_jit(fit.result)(state)


def strong(state: Any) -> Any:
    """Give every leaf a definite type, or the epoch would be compiled again for its own result."""
    return jax.tree.map(lambda leaf: jax.lax.convert_element_type(leaf, leaf.dtype), state)
