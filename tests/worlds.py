"""Small worlds whose values are known exactly, and logs of them, for what judges policies."""

import jax.numpy as jnp
import numpy as np

from countmorl import load
from countmorl.data.dataset import Dataset
from countmorl.dynamics.termination import KnownTermination
from countmorl.pessimism import NoPessimism
from countmorl.rollouts import PenalizedModel
from countmorl.tabular.mdp import TabularMDP
from countmorl.tabular.planning import start_value
from models import all_predicted, small_ensemble


def linear_log(episodes: int = 60, length: int = 30, seed: int = 0, pull: float = 0.0) -> Dataset:
    """s' = 0.9 s + 0.1 a, r = s, from s = 0, never an end.

    Actions are drawn around `pull`, more or less by the episode: states go as far as 0.6.
    """
    rng = np.random.default_rng(seed)
    middle = pull + rng.uniform(-0.6, 0.6, (episodes, 1))
    action = np.clip(middle + rng.uniform(-0.4, 0.4, (episodes, length)), -1, 1)
    state = np.zeros((episodes, length + 1))
    for at in range(length):
        state[:, at + 1] = 0.9 * state[:, at] + 0.1 * action[:, at]
    last = np.zeros((episodes, length), bool)
    last[:, -1] = True
    column = lambda values: values.reshape(-1, 1).astype(np.float32)  # noqa: E731
    return load(
        {
            "obs": column(state[:, :-1]),
            "action": column(action),
            "reward": column(state[:, :-1])[:, 0],
            "next_obs": column(state[:, 1:]),
            "truncated": last.reshape(-1),
            "action_low": -np.ones(1),
            "action_high": np.ones(1),
        }
    )


def linear_value(action: float, discount: float, start: float = 0.0) -> float:
    """Always the same action: s_t = a + 0.9^t (s_0 - a)."""
    return action / (1 - discount) + (start - action) / (1 - 0.9 * discount)


class Truth(PenalizedModel):
    """s' = 0.9 s + 0.1 a and r = s, whatever the networks say."""

    def following(self, obs, action, drawn, outside):
        return 0.9 * obs + 0.1 * action, obs[:, 0]


def never(obs):
    """No task ends."""
    return jnp.array(False)


def true_model(rule=never) -> Truth:
    """The linear system as a model that is right."""
    ensemble = small_ensemble(members=2, inputs=2, targets=2, width=4)
    return Truth(ensemble, NoPessimism(), KnownTermination(rule), all_predicted(1, 1))


def chain(discount: float = 0.9) -> TabularMDP:
    """Three states in a line: 0 stays or costs, 1 goes on; the third pays 1 and ends the task.

    Action 1 leads on with a chance of 0.8 and else stays; action 0 stays and pays 0.1.
    """
    transition = np.zeros((4, 2, 4))
    for state in range(3):
        transition[state, 0, state] = 1.0
        transition[state, 1, state + 1], transition[state, 1, state] = 0.8, 0.2
    transition[3, :, 3] = 1.0
    reward = np.zeros((4, 2))
    reward[:3, 0] = 0.1
    reward[2, 1] = 0.8
    return TabularMDP(
        transition=transition.reshape(8, 4),
        reward=reward,
        start=np.array([1.0, 0, 0, 0]),
        gamma=discount,
        terminal=np.array([False, False, False, True]),
    )


def chain_log(episodes: int, on: float = 0.5, seed: int = 0, limit: int = 40) -> Dataset:
    """Episodes of the chain by somebody who goes on with a chance of `on`."""
    rng = np.random.default_rng(seed)
    rows: list[tuple] = []
    for _ in range(episodes):
        state = 0
        for at in range(limit):
            action = int(rng.random() < on)
            moved = state + int(action and rng.random() < 0.8)
            # The reward is the mean of what the pair pays, as the exact values have it.
            paid = 0.1 if action == 0 else (0.8 if state == 2 else 0.0)
            rows.append((state, action, paid, moved, moved == 3, at == limit - 1 and moved < 3))
            state = moved
            if state == 3:
                break
    state, action, reward, after, ended, cut = map(np.array, zip(*rows, strict=True))
    hot = np.eye(4, dtype=np.float32)
    return load(
        {
            "obs": hot[state],
            "action": action,
            "reward": reward.astype(np.float32),
            "next_obs": hot[after],
            "terminated": ended,
            "truncated": cut,
            "action_count": np.array(2),
        }
    )


def chain_value(on: float, discount: float = 0.9) -> float:
    """The exact value of going on with a chance of `on`, wherever one is."""
    return start_value(chain(discount), np.tile([1 - on, on], (4, 1)))
