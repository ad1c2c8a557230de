"""The columns that are watched: what was seen, done, paid and counted, and what followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from countmorl.data.batches import Batch, Form
from countmorl.monitoring.foretold import Foretold
from countmorl.schema import action_names, obs_names

Part = Literal["seen", "done", "paid", "followed", "counted"]
Count = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""How often pairs were logged: observations and actions, vectors in the log's unit, to counts."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One thing that is watched."""

    name: str
    part: Part
    """seen, done and paid are the log's own columns; followed is what came of a step, against what
    was foretold; counted is how often its pair was logged."""

    @property
    def fitted(self) -> bool:
        """Whether the training's own rows look better than others: it was fitted on them."""
        return self.part in ("followed", "counted")


def columns_of(form: Form, *, counted: bool) -> tuple[Column, ...]:
    """Everything that is watched of a log of this form."""
    seen = _now(form)
    done = action_names(form.schema, form.action_dim)
    return (
        *(Column(name=name, part="seen") for name in seen),
        *(Column(name=name, part="done") for name in done),
        Column(name="reward", part="paid"),
        *(Column(name=name, part="followed") for name in (*seen, "reward")),
        *((Column(name="count", part="counted"),) if counted else ()),
    )


def _now(form: Form) -> tuple[str, ...]:
    """What is seen at one time; what history repeats moves with it."""
    return form.schema.now if form.schema else obs_names(None, form.obs_dim)


def step_parts(batch: Batch, form: Form) -> tuple[np.ndarray, np.ndarray]:
    """What a step's successor is foretold from, and what it is: changes, and the reward."""
    now = len(_now(form))
    inputs = np.concatenate([batch.obs, batch.action], axis=1, dtype=np.float64)
    change = batch.next_obs[:, :now].astype(np.float64) - batch.obs[:, :now]
    return inputs, np.concatenate([change, batch.reward[:, None]], axis=1)


def watch(batch: Batch, form: Form, foretold: Foretold, count: Count | None) -> np.ndarray:
    """The values of every watched column, [steps, columns]; NaN where one is not known."""
    inputs, targets = step_parts(batch, form)
    surprise = foretold.surprise(inputs, targets)
    surprise[~batch.next_known, :-1] = np.nan
    parts = [batch.obs[:, : len(_now(form))], batch.action, batch.reward[:, None], surprise]
    if count is not None:
        parts.append(np.asarray(count(batch.obs, batch.action))[:, None])
    return np.concatenate(parts, axis=1, dtype=np.float64)
