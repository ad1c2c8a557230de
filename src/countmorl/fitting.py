"""A stage is a resumable stretch of training: a state, an epoch, and a result."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from countmorl.runs.folder import Run
from countmorl.types import Key, Metrics

State = TypeVar("State")
Result = TypeVar("Result")


class AbstractStage(ABC, Generic[State, Result]):
    """One stage. State and result are pytrees of arrays; keys are handed in, so none is stored."""

    name: str
    """One word for the progress line, the metrics and the result's file."""
    stream: int
    """Number folded into the seed, fixed for ever, so that a new stage shifts no other."""
    epochs: int
    """How many epochs the stage lasts at the most."""
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
        """Tell whether the stage may end before its last epoch."""
        return False

    def judge(self, state: State, epoch: int) -> dict[str, Any]:
        """Return more numbers for the metrics, measured outside compiled code."""
        return {}

    def save(self, state: State, run: Run) -> None:
        """Write what others read while the stage goes on, such as the policy so far."""
        return

    @abstractmethod
    def result(self, state: State) -> Result:
        """Return what later stages need."""
