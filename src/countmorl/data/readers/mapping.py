"""Arrays in memory, by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from countmorl.data.fields import ALIASES, Fields
from countmorl.envs.tasks import Task
from countmorl.errors import DataError

KEYS = {name for names in ALIASES.values() for name in names}


def read_mapping(
    arrays: Mapping[str, np.ndarray], *, name: str = "arrays", task: Task | None = None
) -> Fields:
    """Take arrays by name; unknown names are errors, so that a typing slip is not lost."""
    unknown = sorted(set(arrays) - KEYS)
    if unknown:
        raise DataError(
            f"'{name}' holds unknown arrays: {', '.join(unknown)}. Known: "
            f"{', '.join(names[0] for names in ALIASES.values())} (or D4RL's names)."
        )
    return Fields.of(dict(arrays), name=name, task=task)
