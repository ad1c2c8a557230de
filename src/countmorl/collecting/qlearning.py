"""Datasets of the grid worlds: everything that a tabular Q-learner met, in order (Section 5.1).

Q(s, a) += rate * (r + gamma max Q(s', .) - Q(s, a)), actions epsilon-greedy with epsilon falling
linearly and then held, so the log goes from random walks to the learned path; equal actions are
drawn at random. One compiled scan over all steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.envs.gridworld import LIMIT, World, check_slip
from countmorl.envs.tasks import Task
from countmorl.errors import ConfigError
from countmorl.tabular.data import TabularData
from countmorl.types import Key

ROWS = {"empty": 1_000_000, "bridge": 160_000, "cliff": 140_000, "zigzag": 300_000}
"""Transitions in each world's dataset, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class QLearning:
    """How the Q-learner explores and learns."""

    first_epsilon: float = 1.0
    """Share of random actions at the first step."""
    last_epsilon: float = 0.2
    """Share of random actions once it has fallen."""
    fall: float = 0.1
    """Share of all steps during which it falls."""
    first_value: float = 1.0
    """Q at first: hopeful, so that everything is tried and the goal is found behind the lava."""
    rate: float = 0.1
    """Step size of the update."""
    gamma: float = 0.95
    """Discount factor."""


class Steps(NamedTuple):
    """Columns of the log, one entry per step; NumPy's or JAX's."""

    state: Int[Any, "*rows"]
    action: Int[Any, "*rows"]
    reward: Float[Any, "*rows"]
    next_state: Int[Any, "*rows"]
    terminated: Bool[Any, "*rows"]
    truncated: Bool[Any, "*rows"]
    propensity: Float[Any, "*rows"]
    """How likely the learner was to take the action that it took."""


def replay(
    world: World,
    *,
    rows: int | None = None,
    slip: float = 0.0,
    seed: int = 0,
    config: QLearning | None = None,
) -> Steps:
    """Run Q-learning for `rows` steps (the paper's number by default) and return all of them."""
    rows = ROWS[world.name] if rows is None else rows
    if rows < 1:
        raise ConfigError(f"`rows` must be at least 1, got {rows}.")
    if not 0 <= seed < 2**32:
        raise ConfigError(f"`seed` must be at least 0 and below 2^32, got {seed}.")
    check_slip(slip)
    steps = _scan(
        rows,
        config or QLearning(),
        jnp.asarray(world.moves, jnp.int32),
        jnp.asarray(world.arrival, jnp.float32),
        jnp.asarray(world.terminal),
        jnp.int32(world.start),
        jnp.float32(slip),
        key=jax.random.key(seed),
    )
    return Steps(*(np.asarray(column) for column in steps))


@partial(jax.jit, static_argnums=(0, 1))
def _scan(
    rows: int,
    config: QLearning,
    moves: Int[Array, "states actions"],
    arrival: Float[Array, " states"],
    terminal: Bool[Array, " states"],
    start: Int[Array, ""],
    slip: Float[Array, ""],
    *,
    key: Key,
) -> Steps:
    states, actions = moves.shape
    explore_key, slip_key, action_key, tie_key = jax.random.split(key, 4)
    fallen = jnp.minimum(jnp.arange(rows, dtype=jnp.float32) / (config.fall * rows), 1)
    epsilon = config.first_epsilon + fallen * (config.last_epsilon - config.first_epsilon)
    explores = jax.random.uniform(explore_key, (rows,)) < epsilon
    slips = jax.random.uniform(slip_key, (rows,)) < slip
    drawn = jax.random.randint(action_key, (rows, 2), 0, actions, jnp.int32)
    ties = 1e-6 * jax.random.uniform(tie_key, (rows, actions))

    def step(carry: tuple, luck: tuple) -> tuple[tuple, Steps]:
        q, state, age = carry
        wild, explore, slipped, (explored, random), tie = luck
        best = (q[state] + tie).argmax().astype(jnp.int32)
        action = jnp.where(explore, explored, best)
        equal = (q[state] == q[state].max()).astype(jnp.float32)
        greedy = equal[action] / equal.sum()
        chance = wild / actions + (1 - wild) * greedy
        ahead = moves[state, jnp.where(slipped, random, action)]
        ended = terminal[ahead]
        cut = (age + 1 >= LIMIT) & ~ended
        target = arrival[ahead] + jnp.where(ended, 0.0, config.gamma * q[ahead].max())
        q = q.at[state, action].add(config.rate * (target - q[state, action]))
        over = ended | cut
        row = Steps(state, action, arrival[ahead], ahead, ended, cut, chance)
        return (q, jnp.where(over, start, ahead), jnp.where(over, 0, age + 1)), row

    first = (jnp.full((states, actions), config.first_value), start, jnp.int32(0))
    return jax.lax.scan(step, first, (epsilon, explores, slips, drawn, ties))[1]


def count_steps(world: World, steps: Steps) -> TabularData:
    """Count a log of a grid world."""
    columns = [np.asarray(column) for column in steps]
    return TabularData.of_rows(
        *columns[:5],
        first=np.array([world.start]),
        states=world.states,
        actions=world.actions,
    )


def gridworld_dataset(world: World, steps: Steps) -> Dataset:
    """Return a log of a grid world as a `Dataset`, for files and for every other algorithm."""
    state, action, reward, next_state, terminated, truncated, chance = map(np.asarray, steps)
    fields = {
        "obs": state[:, None],
        "action": action,
        "reward": reward,
        "next_obs": next_state[:, None],
        "terminated": terminated,
        "truncated": truncated,
        "propensity": chance,
        "action_count": np.array(world.actions),
    }
    task = Task(name=world.env_id, env_id=world.env_id, horizon=LIMIT)
    return Dataset.of(Fields.of(fields, name=world.name, task=task))
