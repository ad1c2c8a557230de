"""The count-based conservative MDP: the estimated model, its reward lowered where data is thin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from countmorl.errors import ConfigError
from countmorl.tabular.mdp import TabularMDP


def conservative_mdp(model: TabularMDP, error: np.ndarray, *, factor: float) -> TabularMDP:
    """Definition 3: r_tilde(s, a) = r(s, a) - factor * C_hat(s, a), the transitions as estimated.

    The paper's factor is gamma Rmax / (1 - gamma); `bounds.coefficient` gives the one that holds.
    """
    return lowered(model, factor * error)


def count_penalty(count: np.ndarray, *, beta: float) -> np.ndarray:
    """beta * min(1, 1 / sqrt(n)), and beta where n <= 0: the practical form (Algorithm 1).

    C_hat without its constant: beta takes the place of factor * sqrt(2 log(|M| / delta)). The
    minimum keeps a count below one from being punished more than a count of zero.
    """
    if not beta >= 0:
        raise ConfigError(f"`beta` must be at least 0, got {beta:g}.")
    return beta / np.sqrt(np.maximum(count, 1.0))


def lowered(model: TabularMDP, penalty: np.ndarray) -> TabularMDP:
    """Take a penalty from every reward. What has ended is certain, so ended states pay none."""
    return replace(model, reward=model.reward - np.where(model.terminal[:, None], 0.0, penalty))
