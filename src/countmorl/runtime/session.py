"""`Session`: a policy at work in one episode, with the memory that its observations need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from countmorl.errors import DataError
from countmorl.runtime.actions import (
    NamedAction,
    action_vector,
    first_action,
    is_nobodys,
    name_action,
)
from countmorl.runtime.named import as_numbers, in_order, names_of
from countmorl.runtime.rows import Memory, Rows
from countmorl.schema import Schema

NO_NAMES = (
    "The log that this policy learned from had no names of columns, so it cannot read rows. "
    "Give `act` an array of numbers."
)


class Session:
    """One episode: made by `policy.session()`, asked once at every step, then thrown away.

    It remembers what the policy's observations are made of beside the present row: the last
    observations and actions, values to carry forward, and when the episode began. Before the first
    step stands the first observation, with the `fill` of each action (0 where a column has none,
    and for discrete actions none at all). A refused row leaves it as it was.

    Where the log made one step of several rows (`frame_skip`), ask once for so many rows, and show
    the others by `see`.
    """

    def __init__(self, act: Callable[..., Any], rows: Rows | None) -> None:
        self._act, self._rows = act, rows
        self._memory = Memory()
        self._seen: np.ndarray | None = None
        self._done: np.ndarray | None = None
        self._earlier: list[np.ndarray] = []

    def act_row(self, row: Any, *, rng: np.random.Generator | None = None) -> NamedAction:
        """Return the action for the episode's next row: a name, or numbers by name.

        Raw values are taken as the log has them. With `rng` a sample, as in `Policy.act`.
        """
        if self._rows is None:
            raise DataError(NO_NAMES)
        return name_action(self._rows.schema, self.act_numbers(row, rng=rng))

    def act_numbers(self, row: Any, *, rng: np.random.Generator | None = None) -> Any:
        """Return the same action as `act` would: a number, or a vector."""
        if self._rows is None:
            raise DataError(NO_NAMES)
        now, memory = self._rows.next(row, self._memory)
        return self._step(now, memory, rng)

    def act(self, obs: Any, *, rng: np.random.Generator | None = None) -> Any:
        """Return the action for the present numbers (`schema.now`), in order or by name.

        They are what is seen at this time alone; the past is added here. A discrete action is a
        number, as in `Policy.act`.
        """
        if self._rows is None:
            return self._act(obs, rng=rng)
        wanted = self._rows.schema.now
        now = in_order(obs, wanted) if names_of(obs) is not None else as_numbers(obs)
        if now.shape != (len(wanted),) or not np.isfinite(now).all():
            raise DataError(
                f"A session wants the {len(wanted)} finite numbers that are seen at one time, got "
                f"an array of shape {list(now.shape)}: {str(now.tolist())[:60]}."
            )
        now = now.copy()  # The caller may use the array again for the next step.
        return self._step(now, replace(self._memory, last=now, counted=True), rng)

    def see(self, row: Any) -> None:
        """Take note of a row at which no action is asked for, as between two steps.

        A missing value is carried forward from it too, as it was in the log.
        """
        if self._rows is None:
            raise DataError(NO_NAMES)
        _, self._memory = self._rows.next(row, self._memory)

    def executed(self, action: Any) -> None:
        """Say what was really done at the last step, where that is not what was advised.

        A discrete action by its name, or by its number as `act` gives it; a vector by the names of
        its numbers, or in order.
        """
        if self._rows is None:
            return  # Without a schema there is no history that an action could stand in.
        if self._seen is None:
            raise DataError("Nothing has been advised yet in this session: ask it for an action.")
        self._done = action_vector(self._rows.schema, action)

    def _step(self, now: np.ndarray, memory: Memory, rng: np.random.Generator | None) -> Any:
        assert self._rows is not None
        past = self._past(self._rows.schema, now)
        action = self._act(np.concatenate([now, *past]), rng=rng)
        # Who abstains leaves it to a person, who says by `executed` what was done.
        done = None if is_nobodys(action) else action_vector(self._rows.schema, action)
        self._memory, self._seen, self._earlier, self._done = memory, now, past, done
        return action

    def _past(self, schema: Schema, now: np.ndarray) -> list[np.ndarray]:
        """What was seen and done at each earlier time that counts, the latest first."""
        if self._seen is None:
            return [np.concatenate([now, first_action(schema)])] * (schema.history - 1)
        if schema.history == 1:
            return []
        if self._done is None:
            raise DataError(
                "The last step was left to a person, and the policy looks at what was done: say "
                "so by `session.executed(action)` before the next step."
            )
        latest = np.concatenate([self._seen, self._done])
        return [latest, *self._earlier][: schema.history - 1]
