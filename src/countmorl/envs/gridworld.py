"""Four small worlds in which every count, every value and every bound can be checked exactly.

Layouts in the spirit of TempoRL (Biedenkapp et al., ICML 2021), on 8 x 8 cells as in the paper's
Section 5.1. S is the start, G the goal, L lava, a dot is free ground. Goal and lava
end the episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from countmorl.errors import ConfigError, did_you_mean
from countmorl.extras import require

LAYOUTS = {
    "empty": """
        S.......
        ........
        ........
        ........
        ........
        ........
        ........
        .......G
    """,
    "bridge": """
        ..LLLL..
        ..LLLL..
        ..LLLL..
        S......G
        ........
        ..LLLL..
        ..LLLL..
        ..LLLL..
    """,
    "cliff": """
        ........
        ........
        ........
        ........
        ........
        ........
        ........
        SLLLLLLG
    """,
    "zigzag": """
        S.......
        ........
        LLLLL...
        ........
        ........
        ...LLLLL
        ........
        .......G
    """,
}
ACTIONS = ("up", "down", "left", "right")
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
LIMIT = 100
"""Steps after which an episode is cut."""
PREFIX = "countmorl/"


@dataclass(frozen=True, kw_only=True)
class World:
    """One layout. A state is a cell, numbered row by row; an action is an index into ACTIONS."""

    name: str
    rows: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), len(self.rows[0])

    @property
    def states(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    @property
    def actions(self) -> int:
        """Number of actions."""
        return len(ACTIONS)

    @property
    def env_id(self) -> str:
        """The id under which Gymnasium knows this world, such as countmorl/ZigZag-v0."""
        return PREFIX + {"zigzag": "ZigZag"}.get(self.name, self.name.capitalize()) + "-v0"

    @cached_property
    def cells(self) -> np.ndarray:
        """The letter of every state."""
        return np.array(list("".join(self.rows)))

    @property
    def start(self) -> int:
        """The state in which every episode begins."""
        return int(np.flatnonzero(self.cells == "S")[0])

    @property
    def goal(self) -> int:
        """The state that pays +1."""
        return int(np.flatnonzero(self.cells == "G")[0])

    @property
    def lava(self) -> np.ndarray:
        """Where there is lava, by state."""
        return self.cells == "L"

    @property
    def terminal(self) -> np.ndarray:
        """Where an episode ends, by state."""
        return self.lava | (self.cells == "G")

    @property
    def arrival(self) -> np.ndarray:
        """Reward for entering a state: +1 goal, -1 lava, 0 elsewhere."""
        return 1.0 * (self.cells == "G") - 1.0 * self.lava

    @cached_property
    def moves(self) -> np.ndarray:
        """The state that an executed action leads to, [states, actions]; walls hold one back."""
        height, width = self.shape
        row, column = np.divmod(np.arange(self.states), width)
        ahead = [
            np.clip(row + down, 0, height - 1) * width + np.clip(column + right, 0, width - 1)
            for down, right in STEPS
        ]
        return np.stack(ahead, axis=1)

    def transition(self, slip: float = 0.0) -> np.ndarray:
        """P(s' | s, a), [states, actions, states]; ended states stay where they are.

        With probability `slip` a uniformly random action is executed instead of the chosen one.
        """
        check_slip(slip)
        executed = (1 - slip) * np.eye(self.actions) + slip / self.actions
        arrives = np.eye(self.states)[self.moves]
        moving = np.einsum("ab,sbt->sat", executed, arrives)
        staying = np.broadcast_to(np.eye(self.states)[:, None], moving.shape)
        return np.where(self.terminal[:, None, None], staying, moving)

    def reward(self, slip: float = 0.0) -> np.ndarray:
        """Expected reward r(s, a), [states, actions]; nothing is paid after the end."""
        return np.where(self.terminal[:, None], 0.0, self.transition(slip) @ self.arrival)


def check_slip(slip: float) -> None:
    """Raise where `slip` is not a probability."""
    if not 0 <= slip <= 1:
        raise ConfigError(f"`slip` is a probability, between 0 and 1; got {slip:g}.")


WORLDS: dict[str, World] = {
    name: World(name=name, rows=tuple(text.split())) for name, text in LAYOUTS.items()
}


def find_world(name: str) -> World:
    """Return the world of that name or Gymnasium id."""
    for world in WORLDS.values():
        if name.lower() in (world.name, world.env_id.lower()):
            return world
    known = [*WORLDS, *(world.env_id for world in WORLDS.values())]
    raise ConfigError(
        f"No grid world named '{name}'.{did_you_mean(name, known)} Known: {', '.join(WORLDS)}."
    )


def register_worlds() -> None:
    """Make the worlds known to Gymnasium; `gymnasium.make(world.env_id, slip=0.1)` then works."""
    gymnasium = require("gymnasium")
    for world in WORLDS.values():
        if world.env_id not in gymnasium.registry:
            gymnasium.register(
                world.env_id,
                entry_point="countmorl.envs.gridworld_env:GridWorld",
                kwargs={"world": world.name},
                max_episode_steps=LIMIT,
            )
