"""The grid worlds as a Gymnasium environment. Imported only when one is made.

The import makes the worlds known, so one line will do, without `register_worlds()`:
gymnasium.make("countmorl.envs.gridworld_env:countmorl/Bridge-v0").
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from countmorl.envs.gridworld import ACTIONS, check_slip, find_world, register_worlds
from countmorl.errors import ConfigError

CELL = 32
COLOURS = {".": (245, 245, 242), "S": (190, 190, 190), "G": (0, 158, 115), "L": (30, 30, 30)}
AGENT = (0, 114, 178)


class GridWorld(gymnasium.Env[Any, Any]):
    """Walk from S to G and stay out of the lava: +1 at the goal, -1 in lava, 0 elsewhere."""

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, world: str, slip: float = 0.0, render_mode: str | None = None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ConfigError(f"`render_mode` is rgb_array or ansi, got {render_mode!r}.")
        check_slip(slip)
        self.world, self.slip, self.render_mode = find_world(world), slip, render_mode
        self.observation_space = gymnasium.spaces.Discrete(self.world.states)
        self.action_space = gymnasium.spaces.Discrete(self.world.actions)
        self.state = self.world.start

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Go back to the start."""
        super().reset(seed=seed)
        self.state = self.world.start
        return self.state, {}

    def step(self, action: int | np.integer) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move; with probability `slip` in a random direction, which `info` then tells."""
        if self.world.terminal[self.state]:
            raise ConfigError("The episode has ended here; call reset() before the next step.")
        executed = int(action)
        if self.slip and self.np_random.random() < self.slip:
            executed = int(self.np_random.integers(self.world.actions))
        self.state = int(self.world.moves[self.state, executed])
        reward, ended = self.world.arrival[self.state], self.world.terminal[self.state]
        return self.state, float(reward), bool(ended), False, {"executed": ACTIONS[executed]}

    def render(self) -> Any:
        """Draw the world and the agent: text (ansi) or an image (rgb_array)."""
        if self.render_mode == "ansi":
            letters = self.world.cells.copy()
            letters[self.state] = "@"
            return "\n".join("".join(row) for row in letters.reshape(self.world.shape)) + "\n"
        if self.render_mode == "rgb_array":
            return self._image()
        return None

    def _image(self) -> np.ndarray:
        colours = np.array([COLOURS[cell] for cell in self.world.cells], np.uint8)
        image = colours.reshape(*self.world.shape, 3).repeat(CELL, axis=0).repeat(CELL, axis=1)
        image[::CELL] = image[:, ::CELL] = 160
        row, column = np.divmod(self.state, self.world.shape[1])
        y, x = np.ogrid[: image.shape[0], : image.shape[1]]
        middle_y, middle_x = (row + 0.5) * CELL, (column + 0.5) * CELL
        image[(y - middle_y) ** 2 + (x - middle_x) ** 2 < (CELL / 3) ** 2] = AGENT
        return image


register_worlds()
