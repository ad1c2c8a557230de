"""Models estimated from counts: plain maximum likelihood, and the best of a finite class."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from countmorl.errors import ConfigError
from countmorl.tabular.data import TabularData
from countmorl.tabular.mdp import Matrix, TabularMDP, dense


def maximum_likelihood(
    data: TabularData, *, gamma: float, unseen_reward: float | None = None
) -> TabularMDP:
    """P_hat(s' | s, a) = n(s, a, s') / n(s, a) and the mean reward of each pair.

    A pair that was never seen has no estimate. Here it stays where it is and pays the least reward
    of the log (or `unseen_reward`), for ever: a planner then takes it only where everything seen is
    worse. No guarantee depends on this choice: C = 1 covers any model of an unseen pair.
    """
    counts = data.counts.reshape(-1)
    over = np.repeat(data.terminal, data.actions)
    unseen = (counts == 0) | over
    share = np.where(unseen, 0.0, 1 / np.maximum(counts, 1))
    mean = data.reward_sum / np.maximum(data.counts, 1)
    least = data.reward_range[0] if unseen_reward is None else unseen_reward
    reward = np.where(data.counts > 0, mean, least)
    return TabularMDP(
        transition=_staying(_scaled(data.outcomes, share), unseen, data.actions),
        reward=np.where(data.terminal[:, None], 0.0, reward),
        start=data.start,
        gamma=gamma,
        terminal=data.terminal,
    )


def best_of_class(data: TabularData, models: np.ndarray) -> np.ndarray:
    """Return, for each pair, the likeliest model of a finite class (Theorem 1).

    P_hat(. | s, a) in argmax over P in M of sum over D_(s, a) of log P(s' | s, a). `models` is
    [models, states * actions, states]. An unseen pair gets the class's first model.
    """
    seen = dense(data.outcomes)
    pairs = seen.shape
    if models.ndim != 3 or models.shape[1:] != pairs:
        raise ConfigError(
            f"`models` has shape {list(models.shape)}, wanted [models, {pairs[0]}, {pairs[1]}]: "
            "the transition matrix of each model."
        )
    with np.errstate(divide="ignore"):
        logs = np.log(models)
    # 0 log 0 is 0: an outcome that was never seen says nothing against a model that excludes it.
    likelihood = (seen * np.where(seen > 0, logs, 0.0)).sum(axis=2)
    return models[likelihood.argmax(axis=0), np.arange(pairs[0])]


def _scaled(matrix: Matrix, share: np.ndarray) -> Matrix:
    if isinstance(matrix, np.ndarray):
        return matrix * share[:, None]
    return sparse.csr_array(sparse.diags_array(share) @ matrix)


def _staying(matrix: Matrix, rows: np.ndarray, actions: int) -> Matrix:
    """Let the marked rows lead from their state to itself."""
    where = np.flatnonzero(rows)
    itself = sparse.csr_array((np.ones(len(where)), (where, where // actions)), shape=matrix.shape)
    if isinstance(matrix, np.ndarray):
        return matrix + itself.toarray()
    return sparse.csr_array(matrix + itself)
