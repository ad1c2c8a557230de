"""What a service stands before: a bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.configs import to_json
from countmorl.errors import DataError
from countmorl.runtime.actions import is_nobodys, name_action
from countmorl.runtime.bundle import Bundle, load_bundle
from countmorl.serving.app import Answer

NOBODY = "The guard abstains: such a pair was logged too rarely. A person has to decide."


class BundleAnswers:
    """Answers of a bundle, without a memory: every request stands alone."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    @classmethod
    def load(cls, folder: Path) -> BundleAnswers:
        """Read a bundle, made by `countmorl export RUN -o DIR`."""
        return cls(load_bundle(folder))

    @cached_property
    def contract(self) -> Mapping[str, Any]:
        """What the bundle wants and gives."""
        return to_json(self.bundle.contract)

    def numbers(self, obs: Sequence[Sequence[float]]) -> list[Answer]:
        """Act on observations."""
        size = len(self.bundle.contract.observation)
        odd = [len(row) for row in obs if len(row) != size]
        if odd:
            raise DataError(f"The policy wants observations of {size} numbers, got {odd[0]}.")
        if len(obs) == 1:  # One alone is told its reason, too.
            action, why = self.bundle.act(obs[0])
            return [self._answer(action, why.count, why.level, why.fell_back, why.reason)]
        actions, why = self.bundle.act(obs)
        return [
            self._answer(action, count, level, back, None)
            for action, count, level, back in zip(
                actions, why.count, why.level, why.fell_back, strict=True
            )
        ]

    def rows(self, rows: Sequence[Mapping[str, Any]]) -> list[Answer]:
        """Act on rows of a log, by name."""
        return [
            _said(action, why.count, why.level, why.fell_back, why.reason)
            for action, why in self.bundle.act_rows(rows)
        ]

    def _answer(self, action: Any, count: Any, level: Any, back: Any, reason: Any) -> Answer:
        if is_nobodys(action):
            return _said(None, count, level, back, reason)
        schema = self.bundle.contract.schema
        named = np.asarray(action).tolist() if schema is None else name_action(schema, action)
        return _said(named, count, level, back, reason)


def _said(action: Any, count: Any, level: Any, back: Any, reason: str | None) -> Answer:
    return Answer(
        action=action,
        count=None if count is None else float(count),
        level=None if level is None else str(level),
        fell_back=bool(back),
        why=reason or (NOBODY if action is None else None),
    )
