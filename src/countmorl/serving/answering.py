"""What a service stands before: a policy with its counts and its guard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from countmorl.errors import DataError
from countmorl.runtime.actions import name_action
from countmorl.runtime.named import as_numbers
from countmorl.runtime.rows import Rows
from countmorl.runtime.session import NO_NAMES
from countmorl.schema import Schema
from countmorl.serving.app import Answer

NOBODY = "The guard abstains: such a pair was logged too rarely. A person has to decide."


@dataclass(frozen=True, eq=False, kw_only=True)
class Answering:
    """Answers of a policy: guarded where it has a guard, counted where it has counts."""

    policy: Any
    counts: Any = None
    """`Counts`, where there are any."""
    guard: Any = None
    """`Guard`, where there is one; it counts by its own counts."""
    contract: Mapping[str, Any] = field(default_factory=dict)

    def numbers(self, obs: Sequence[Sequence[float]]) -> list[Answer]:
        """Act on observations."""
        lengths = {len(row) for row in obs}
        if lengths != {self.policy.obs_dim}:
            odd = next(each for each in lengths if each != self.policy.obs_dim)
            raise DataError(
                f"The policy wants observations of {self.policy.obs_dim} numbers, got one of {odd}."
            )
        return self._answers(as_numbers(obs))

    def rows(self, rows: Sequence[Mapping[str, Any]]) -> list[Answer]:
        """Act on rows of a log, by name."""
        if self._named is None:
            raise DataError(NO_NAMES.replace("`act` an array", "`obs` a list"))
        if why := self._named.needs_session:
            raise DataError(
                f"This policy cannot act on a row alone: {why}. Give `obs` the numbers of the "
                "whole observation, in the contract's order."
            )
        return self._answers(self._named.table(rows))

    @cached_property
    def _schema(self) -> Schema | None:
        return getattr(self.policy, "schema", None)

    @cached_property
    def _named(self) -> Rows | None:
        return None if self._schema is None else Rows(self._schema)

    def _answers(self, obs: np.ndarray) -> list[Answer]:
        if self.guard is not None:
            actions, why = self.guard.act(obs)
            counts, levels, back = why.count, why.level, why.fell_back
        else:
            actions = self.policy.act(obs)
            found = None if self.counts is None else self.counts.counts(obs, actions)
            counts, levels = (None, None) if found is None else (found.count, found.level)
            back = np.zeros(len(obs), bool)
        return [
            self._answer(
                action,
                None if counts is None else float(counts[place]),
                None if levels is None else str(levels[place]),
                bool(back[place]),
            )
            for place, action in enumerate(np.asarray(actions))
        ]

    def _answer(self, action: Any, count: float | None, level: str | None, back: bool) -> Answer:
        nobody = bool(action < 0) if self.policy.discrete else not np.isfinite(action).all()
        if nobody:
            return Answer(action=None, count=count, level=level, fell_back=back, why=NOBODY)
        named = action.tolist() if self._schema is None else name_action(self._schema, action)
        return Answer(action=named, count=count, level=level, fell_back=back)
