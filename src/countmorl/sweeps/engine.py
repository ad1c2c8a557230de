"""The seam of engines: whatever can carry out rows, here or elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

from countmorl.sweeps.rows import Row


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one row's run ended."""

    name: str
    state: Literal["done", "stopped", "failed", "lost"]
    """lost: its process was killed, or its node has gone, and nobody can say why."""
    sentence: str = ""


class AbstractEngine(ABC):
    """Carries out rows side by side. The driver decides what may start, the engine where."""

    @abstractmethod
    def has_room(self, row: Row) -> bool:
        """Whether a row can be started now."""

    @abstractmethod
    def start(self, row: Row) -> None:
        """Start a row's run, or go on with it."""

    @abstractmethod
    def wait(self, seconds: float) -> list[Outcome]:
        """What has ended, as soon as anything has, after `seconds` at the latest."""

    @abstractmethod
    def ask_to_stop(self) -> None:
        """Let every run finish its epoch, save and end."""

    @abstractmethod
    def kill(self) -> None:
        """End every run at once. What was saved before stays."""

    @property
    @abstractmethod
    def running(self) -> list[str]:
        """The rows that are under way."""

    def why_never(self, row: Row) -> str | None:
        """Why a row could not even start if it were alone; None where it could."""
        return None
