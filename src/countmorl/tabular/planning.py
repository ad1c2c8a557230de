"""Exact values, visits and plans. Dense matrices for small worlds, sparse ones for large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import gmres, spsolve

from countmorl.errors import ConfigError
from countmorl.tabular.mdp import Matrix, TabularMDP

EQUAL = 1e-10
"""An action replaces another only where it is better by more than this."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """An optimal policy, its value in every state, and how many improvements it took."""

    policy: np.ndarray
    value: np.ndarray
    rounds: int


def greedy(actions: np.ndarray, number: int) -> np.ndarray:
    """Write one action per state as a policy pi(a | s), [states, actions]."""
    return np.eye(number)[actions]


def followed(mdp: TabularMDP, policy: np.ndarray) -> tuple[Matrix, np.ndarray]:
    """P_pi, [states, states], and r_pi, [states]: the process when the policy acts."""
    if policy.shape != mdp.reward.shape:
        raise ConfigError(
            f"The policy has shape {list(policy.shape)}, wanted {list(mdp.reward.shape)}: "
            "a probability for each action in each state."
        )
    reward = (policy * mdp.reward).sum(axis=1)
    if isinstance(mdp.transition, np.ndarray):
        whole = mdp.transition.reshape(mdp.states, mdp.actions, mdp.states)
        return np.einsum("sa,sat->st", policy, whole), reward
    rows = np.repeat(np.arange(mdp.states), mdp.actions)
    mix = sparse.csr_array(
        (policy.reshape(-1), (rows, np.arange(policy.size))), shape=(mdp.states, policy.size)
    )
    return sparse.csr_array(mix @ mdp.transition), reward


def evaluate(mdp: TabularMDP, policy: np.ndarray, *, near: np.ndarray | None = None) -> np.ndarray:
    """V_pi, [states]: the solution of V = r_pi + gamma P_pi V; `near` is a guess to start from."""
    matrix, reward = followed(mdp, policy)
    return _solve(matrix, reward, mdp.gamma, near)


def start_value(mdp: TabularMDP, policy: np.ndarray) -> float:
    """V_M^pi = E over d0 of V_pi(s), the number that the theorems speak of."""
    return float(mdp.start @ evaluate(mdp, policy))


def action_values(mdp: TabularMDP, value: np.ndarray) -> np.ndarray:
    """Q(s, a) = r(s, a) + gamma sum over s' of P(s' | s, a) V(s'), [states, actions]."""
    ahead = np.asarray(mdp.transition @ value).reshape(mdp.reward.shape)
    return mdp.reward + mdp.gamma * ahead


def visitation(mdp: TabularMDP, policy: np.ndarray) -> np.ndarray:
    """d_P^pi(s, a) = (1 - gamma) sum over t of gamma^t P(s_t = s) pi(a | s), [states, actions]."""
    matrix, _ = followed(mdp, policy)
    visits = _solve(matrix.T, (1 - mdp.gamma) * mdp.start, mdp.gamma)
    return visits[:, None] * policy


def after(mdp: TabularMDP, policy: np.ndarray, steps: int) -> np.ndarray:
    """Return where an episode is after so many steps: a distribution over states, undiscounted."""
    matrix, _ = followed(mdp, policy)
    where = mdp.start
    for _ in range(steps):
        where = matrix.T @ where
    return where


def policy_iteration(mdp: TabularMDP, *, most_rounds: int = 1000) -> Plan:
    """Plan exactly: evaluate, act greedily, repeat until no action is better (Howard, 1960)."""
    states = np.arange(mdp.states)
    value = _sweeps(mdp)
    best = action_values(mdp, value).argmax(axis=1)
    for rounds in range(1, most_rounds + 1):
        value = evaluate(mdp, greedy(best, mdp.actions), near=value)
        quality = action_values(mdp, value)
        margin = EQUAL * max(1.0, float(np.abs(value).max()))
        better = quality.max(axis=1) > quality[states, best] + margin
        if not better.any():
            return Plan(policy=greedy(best, mdp.actions), value=value, rounds=rounds)
        best = np.where(better, quality.argmax(axis=1), best)
    raise ConfigError(f"Planning has not settled after {most_rounds} rounds.")


def evaluate_floored(mdp: TabularMDP, policy: np.ndarray, floor: float) -> np.ndarray:
    """V = max(floor, r_pi + gamma P_pi V), [states]: pessimistic rewards, a known least value.

    No less than `evaluate`, and a lower bound wherever that one is. Ended states keep the value 0.
    """
    matrix, reward = followed(mdp, policy)
    return _repeat(mdp, floor, lambda value: reward + mdp.gamma * (matrix @ value))


def plan_floored(mdp: TabularMDP, floor: float) -> Plan:
    """Maximise the floored value by value iteration; ties go to what is best under the floor."""
    value = _repeat(mdp, floor, lambda value: action_values(mdp, value).max(axis=1))
    best = action_values(mdp, value).argmax(axis=1)
    return Plan(policy=greedy(best, mdp.actions), value=value, rounds=1)


def _repeat(mdp: TabularMDP, floor: float, ahead: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Iterate a contraction from below until its error is under 1e-9."""
    value = np.where(mdp.terminal, 0.0, floor)
    for _ in range(100_000):
        following = np.where(mdp.terminal, 0.0, np.maximum(floor, ahead(value)))
        if np.abs(following - value).max() <= 1e-9 * (1 - mdp.gamma):
            return following
        value = following
    raise ConfigError("The floored value has not settled; is `gamma` too close to 1?")


def _sweeps(mdp: TabularMDP) -> np.ndarray:
    """Return a first guess at the optimal value: in a large world, some rounds of value iteration.

    They carry a distant goal's value to every state, which saves tens of exact evaluations.
    """
    value = np.zeros(mdp.states)
    if isinstance(mdp.transition, np.ndarray):
        return value
    for _ in range(1000):
        following = action_values(mdp, value).max(axis=1)
        if np.abs(following - value).max() <= 1e-3 * (1 - mdp.gamma) * np.abs(following).max():
            break
        value = following
    return value


def _solve(
    matrix: Matrix | sparse.csc_array,
    right: np.ndarray,
    gamma: float,
    near: np.ndarray | None = None,
) -> np.ndarray:
    """Solve (I - gamma P) x = right."""
    if isinstance(matrix, np.ndarray):
        return np.linalg.solve(np.eye(len(matrix)) - gamma * matrix, right)
    system = sparse.csr_array(sparse.eye_array(len(right)) - gamma * matrix)
    if not right.any():
        return np.zeros_like(right, dtype=np.float64)
    # A direct solution fills up on worlds without geometry, so iterate first. The rest r bounds
    # the error of a value by |r| / (1 - gamma).
    answer, failed = gmres(system, right, near, rtol=1e-13, atol=0.0, restart=60, maxiter=100)
    rest = np.abs(system @ answer - right).max()
    if failed and rest > 1e-9 * (1 - gamma) * np.abs(right).max():
        return np.asarray(spsolve(sparse.csc_array(system), right))
    return answer
