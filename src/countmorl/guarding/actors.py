"""Guarded policies as evaluators and simulators ask them, with a record of who acted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from countmorl.evaluation.acting import Actor
from countmorl.runtime.guard import Guard, Watch
from countmorl.spaces import ActionSpace


class Recorded:
    """A guard at work in as many streams as it is first asked about, and where it fell back."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.fell_back: list[np.ndarray] = []
        self._watch: Watch | None = None

    def __call__(self, obs: np.ndarray) -> Any:
        """Take one step of every stream."""
        if self._watch is None:
            self._watch = self.guard.begin(len(obs))
        action, why = self._watch.act(obs)
        self.fell_back.append(np.asarray(why.fell_back))
        return action

    def rate(self, under_way: np.ndarray) -> float:
        """Share of the steps that were under way, [steps, streams], at which it fell back."""
        return float(np.stack(self.fell_back)[under_way].mean())

    def switches(self, under_way: np.ndarray) -> float:
        """Changes between policy and fall-back, per 100 steps."""
        back = np.stack(self.fell_back)
        both = under_way[1:] & under_way[:-1]
        return 100.0 * float((back[1:] != back[:-1])[both].sum()) / max(1, int(under_way.sum()))


def actor_of_guard(
    guard: Guard, space: ActionSpace, name: str
) -> tuple[Actor, Callable[[], Recorded]]:
    """A guarded policy for evaluators, and what its last rollouts recorded.

    Rollouts begin it anew and with a memory; asked about single rows it has none.
    """
    kept: list[Recorded] = []

    def begin() -> Recorded:
        kept.append(Recorded(guard))
        return kept[-1]

    act = lambda obs: guard.act(obs)[0]  # noqa: E731
    return Actor(name=name, act=act, space=space, begin=begin), lambda: kept[-1]
