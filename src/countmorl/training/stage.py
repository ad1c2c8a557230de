"""A stage is a resumable stretch of training: a state, an epoch, and what it leaves behind."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from countmorl.runs import Run
from countmorl.types import Key, Metrics

State = TypeVar("State")


class AbstractStage(ABC, Generic[State]):
    """One stage. The state is a pytree of arrays; keys are handed in, so none is stored."""

    name: str
    """One word for the progress line and the metrics."""
    stream: int
    """Number folded into the seed, fixed for ever, so that a new stage shifts no other."""
    epochs: int
    """How many epochs the stage lasts."""

    @abstractmethod
    def init(self, *, key: Key) -> State:
        """Make the first state."""

    @abstractmethod
    def epoch(self, state: State, *, key: Key) -> tuple[State, Metrics]:
        """Go on by one epoch; the old state is used up."""

    def judge(self, state: State, epoch: int) -> dict[str, Any]:
        """Return more numbers for the metrics, measured outside compiled code."""
        return {}

    @abstractmethod
    def save(self, state: State, run: Run) -> None:
        """Write what others read, such as the policy."""
