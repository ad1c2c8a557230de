"""A grid world's pairs as vectors for networks: row, column and action, one number each is 1."""

from __future__ import annotations

from typing import Literal

import numpy as np

from countmorl.collecting.qlearning import Steps
from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.envs.gridworld import ACTIONS, World
from countmorl.errors import ConfigError
from countmorl.spaces import one_hot

Drawing = Literal["evenly", "as-logged"]


def hot_states(world: World, state: np.ndarray) -> np.ndarray:
    """Row and column of each state, one-hot, [states, 8 + 8] in an 8 x 8 world."""
    height, width = world.shape
    row, column = np.divmod(state, width)
    return np.concatenate([one_hot(row, height), one_hot(column, width)], axis=1)


def hot_actions(world: World, action: np.ndarray) -> np.ndarray:
    """Actions, one-hot, [actions, 4]."""
    return one_hot(action, world.actions)


def hot_pairs(world: World) -> np.ndarray:
    """All pairs in the order state * actions + action, the action's numbers scaled to [-1, 1]."""
    state, action = np.divmod(np.arange(world.states * world.actions), world.actions)
    scaled = 2 * hot_actions(world, action) - 1
    return np.concatenate([hot_states(world, state), scaled], axis=1)


def pair_name(world: World, pair: int) -> str:
    """Write a pair for people: up in row 0, column 3."""
    state, action = divmod(int(pair), world.actions)
    row, column = divmod(state, world.shape[1])
    return f"{ACTIONS[action]} in row {row}, column {column}"


def pair_counts(world: World, steps: Steps) -> np.ndarray:
    """n(s, a) of every row of a log, [pairs]."""
    pair = np.asarray(steps.state) * world.actions + np.asarray(steps.action)
    return np.bincount(pair, minlength=world.states * world.actions)


def drawn_rows(world: World, steps: Steps, rows: int, *, drawing: Drawing, seed: int) -> Dataset:
    """Draw rows of a log, with replacement, as a multi-hot dataset for the model.

    `evenly` draws every logged pair equally often, `as-logged` every row.
    """
    if rows < 5:
        raise ConfigError(f"`fit_rows` must be at least 5, got {rows}.")
    pair = np.asarray(steps.state) * world.actions + np.asarray(steps.action)
    chance = 1 / pair_counts(world, steps)[pair] if drawing == "evenly" else np.ones(len(pair))
    picked = np.random.default_rng(seed).choice(len(pair), rows, p=chance / chance.sum())
    state, action, reward, ahead, terminated = (np.asarray(c)[picked] for c in steps[:5])
    fields = {
        "obs": hot_states(world, state),
        "action": hot_actions(world, action),
        "reward": reward,
        "next_obs": hot_states(world, ahead),
        "terminated": terminated,
        "truncated": np.ones(rows, bool),  # Rows stand alone: none goes on with the next.
        "action_low": np.zeros(world.actions),
        "action_high": np.ones(world.actions),
    }
    return Dataset.of(Fields.of(fields, name=world.name))
