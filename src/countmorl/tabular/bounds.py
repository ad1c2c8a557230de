"""The paper's guarantees (Section 4.1) as functions, each with its equation.

TV is the total variation distance sup_A |P(A) - Q(A)|, half the L1 distance, between 0 and 1.

Two corrections, both explained in docs/gridworld.md:

*   Theorem 1 speaks of one pair. What must hold in all pairs at once, as Lemma 1 and everything
    after it do, needs delta divided by their number: `shared_delta`.
*   Lemma 1 multiplies TV by Rmax / (1 - gamma). A difference of expectations is at most TV times
    the *span* of the values, max V - min V. With rewards in [-Rmax, Rmax] that is twice as much,
    with rewards in [0, Rmax] it is the paper's constant. The functions here take the span.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from countmorl.errors import ConfigError

Rewards = Literal["known", "logged"]
Numbers = np.ndarray | Any
"""As NumPy gives them: an array, or a np.float64 where there is a single count."""


def shared_delta(delta: float, pairs: int) -> float:
    """delta / pairs: what each pair may fail with so that all hold with 1 - delta (union bound).

    The number of pairs must be fixed before the data is seen; counting only pairs that turned out
    to be seen would not do.
    """
    _check_delta(delta)
    return delta / pairs


def count_bound(count: ArrayLike, *, models: int, delta: float) -> Numbers:
    """Theorem 1: TV(P_hat, P_star) <= sqrt(2 log(|M| / delta) / n(s, a)) with 1 - delta.

    For one pair, the likeliest of a finite class M that holds the truth, and n samples; also where
    n itself was decided by the data, since the proof's martingale obeys Ville's inequality.
    """
    _check_delta(delta)
    if models < 1:
        raise ConfigError(f"`models` is the size of a class, at least 1; got {models}.")
    return _per_root(np.sqrt(2 * np.log(models / delta)), count)


def error_bound(count: ArrayLike, *, models: int, delta: float) -> Numbers:
    """Corollary 1: C(s, a) = min(1, sqrt(2 log(|M| / delta) / n(s, a))), and 1 where n <= 0.

    With an approximate count in place of n it is C_hat of Definition 1, which may be any real
    number: a count of zero or below says nothing about the pair.
    """
    return np.minimum(1.0, count_bound(count, models=models, delta=delta))


def informative_count(*, models: int, delta: float) -> float:
    """2 log(|M| / delta): C is below 1 only above this count.

    The text under Corollary 1 and its proof put a square root around it, which is too small.
    """
    _check_delta(delta)
    return 2 * float(np.log(models / delta))


def multinomial_bound(count: ArrayLike, *, outcomes: int, delta: float) -> Numbers:
    """TV(P_hat, P_star) <= sqrt(log((2^k - 2) / delta) / (2 n)) with 1 - delta, for shares n(s')/n.

    Weissman, Ordentlich, Seroussi, Verdu, Weinberger, "Inequalities for the L1 deviation of the
    empirical distribution", HP Labs HPL-2003-97, 2003: P(L1 >= e) <= (2^k - 2) exp(-n e^2 / 2).
    k is the number of outcomes that the truth can have; with one, there is no error. This is what
    holds for plain shares, to which Theorem 1 (a finite class) does not apply. n is fixed.
    """
    _check_delta(delta)
    return _multinomial(count, outcomes, np.log(delta))


def multinomial_bound_adaptive(count: ArrayLike, *, outcomes: int, delta: float) -> Numbers:
    """`multinomial_bound` where the log decided n, as in episodes: at n it spends delta / n(n + 1).

    The sum of 1 / n(n + 1) over all n is 1, so the bound holds for every n at once.
    """
    _check_delta(delta)
    number = np.maximum(np.asarray(count, np.float64), 1)
    return _multinomial(count, outcomes, np.log(delta / (number * (number + 1))))


def approximation_error(exact: np.ndarray, approximate: np.ndarray) -> float:
    """Definition 2: epsilon = sup over (s, a) of |C(s, a) - C_hat(s, a)|."""
    return float(np.abs(exact - approximate).max())


def value_span(reward_range: tuple[float, float], gamma: float) -> float:
    """(r_max - r_min) / (1 - gamma): no two states' values differ by more."""
    return (reward_range[1] - reward_range[0]) / (1 - gamma)


def paper_span(reward_range: tuple[float, float], gamma: float) -> float:
    """Rmax / (1 - gamma), the paper's factor; too small by up to 2 where rewards change sign."""
    return max(abs(reward_range[0]), abs(reward_range[1])) / (1 - gamma)


def coefficient(*, span: float, gamma: float, rewards: Rewards = "known") -> float:
    """gamma * span: what one unit of TV in one step can be worth (Definition 3's factor of C).

    Where rewards are not known but averaged from the log, as a fixed function of (s, a, s'), an
    error moves the reward as well, and the factor is the span itself, without gamma.
    """
    return span * (gamma if rewards == "known" else 1.0)


def value_gap(*, mean_error: float, epsilon: float, factor: float, gamma: float) -> float:
    """Lemma 1: |V_hat - V_star| <= factor / (1 - gamma) * (E over d_P_hat^pi of C_hat + epsilon).

    For every policy at once. The paper prints one direction; both hold, and Theorem 2 needs both.
    `factor` is `coefficient`, the paper's gamma Rmax / (1 - gamma).
    """
    return factor / (1 - gamma) * (mean_error + epsilon)


def conservatism_error(*, epsilon: float, factor: float, gamma: float) -> float:
    """Corollary 2: V_star >= V_tilde - factor / (1 - gamma) * epsilon, for every policy."""
    return factor / (1 - gamma) * epsilon


def suboptimality_gap(*, mean_error: float, epsilon: float, factor: float, gamma: float) -> float:
    """Theorem 2: V_star^pi - V_star^pi_hat <= 2 factor / (1 - gamma) * (E of C_hat + epsilon).

    pi_hat is the best policy in the conservative MDP, pi any other (the optimal one in particular),
    and the mean is over d_P_hat^pi.
    """
    return 2 * value_gap(mean_error=mean_error, epsilon=epsilon, factor=factor, gamma=gamma)


def _multinomial(count: ArrayLike, outcomes: int, log_delta: Numbers) -> Numbers:
    if outcomes < 1:
        raise ConfigError(f"`outcomes` must be at least 1, got {outcomes}.")
    if outcomes == 1:
        return np.where(np.asarray(count, np.float64) > 0, 0.0, 1.0)
    log_events = outcomes * np.log(2) + np.log1p(-(2.0 ** (1 - outcomes)))
    return np.minimum(1.0, _per_root(np.sqrt((log_events - log_delta) / 2), count))


def _per_root(factor: Numbers, count: ArrayLike) -> Numbers:
    number = np.asarray(count, np.float64)
    return np.where(number > 0, factor / np.sqrt(np.maximum(number, 1e-300)), np.inf)


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ConfigError(
            f"`delta` is a probability of failure, above 0 and below 1; got {delta:g}."
        )
