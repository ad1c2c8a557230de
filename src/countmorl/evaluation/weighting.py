"""Importance weighting: logged steps count as much as the policy would have taken them.

For discrete actions. Per decision and weighted (Precup et al., 2000), w_t = prod pi / b, divided by
its sum over the episodes; and weighted doubly robust (Thomas and Brunskill, 2016), which adds
critics as a control variate:
V = sum_t gamma^t sum_i [w_t r_t - (w_t Q(s_t, a_t) - w_{t-1} V(s_t))].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate, Opinion, Refusal
from countmorl.evaluation.behaviour import stretched
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure, usual_reward
from countmorl.evaluation.propensity import Propensities

LEAST = 20.0
"""Episodes that must be left to speak for a policy."""
DRAWS = 500


@dataclass(frozen=True, eq=False, kw_only=True)
class Weighted:
    """Episodes as tables of steps, [episodes, steps]; what is past their ends is 0."""

    weight: np.ndarray
    """Products of the ratios up to and with each step; beyond an end, the last one. Whatever all
    weights of a step are multiplied by is the same to everything here."""
    reward: np.ndarray
    """Discounted."""
    q: np.ndarray
    """Discounted values of what was done."""
    value: np.ndarray
    """Discounted values of what the policy would do."""

    def estimates(self, picked: np.ndarray) -> tuple[float, float]:
        """Per-decision weighted, and weighted doubly robust, of some episodes."""
        weight = self.weight[picked]
        total = weight.sum(axis=0)
        share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        first = np.full((len(picked), 1), 1 / len(picked))
        before = np.concatenate([first, share[:, :-1]], axis=1)
        plain = float((share * self.reward[picked]).sum())
        control = share * self.q[picked] - before * self.value[picked]
        return plain, plain - float(control.sum())

    @property
    def effective(self) -> float:
        """Episodes that the weights leave, (sum w)^2 / sum w^2, on average over the steps."""
        square = np.square(self.weight).sum(axis=0)
        each = np.divide(
            np.square(self.weight.sum(axis=0)), square, out=np.zeros_like(square), where=square > 0
        )
        return float(each.mean())


def table(
    logged: Logged,
    ratio: np.ndarray,
    q: np.ndarray,
    value: np.ndarray,
    measure: Measure,
) -> Weighted:
    """Put steps into tables; `ratio` is pi / b of what was done at each row."""
    data = logged.dataset
    lengths = np.diff(data.episode_ends, prepend=-1)
    steps = min(int(lengths.max()), measure.steps)
    begin = data.episode_ends - lengths + 1
    at = np.arange(steps)
    rows = np.minimum(begin[:, None] + at, data.episode_ends[:, None])
    live = at < lengths[:, None]
    weights = measure.weights[:steps]
    # What a cut episode would have gone on to earn comes with its last step, as the log's does.
    beyond = measure.earned(data).beyond * usual_reward(data, measure)
    filled = lambda column: np.where(live, column[rows], 0.0) * weights  # noqa: E731
    with np.errstate(divide="ignore"):  # What the policy would not have done weighs nothing.
        logs = np.cumsum(np.log(np.where(live, ratio[rows], 1.0)), axis=1)
    # The greatest weight of a step is 1: products over hundreds of steps are beyond all numbers.
    greatest = logs.max(axis=0)
    weight = np.exp(logs - np.where(np.isfinite(greatest), greatest, 0.0))
    reward = filled(data.reward.astype(np.float64))
    reward[np.arange(len(lengths)), np.minimum(lengths, steps) - 1] += beyond
    return Weighted(weight=weight, reward=reward, q=filled(q), value=filled(value))


def weighting(
    logged: Logged,
    actor: Actor,
    likely: Propensities | None,
    q: np.ndarray,
    value: np.ndarray,
    measure: Measure,
    *,
    seed: int = 0,
) -> dict[str, Opinion]:
    """Both estimates; refused where too few episodes are left to speak for the policy.

    `q` and `value` are the critics' values of what was done, and of what the policy would do, at
    each row.
    """
    data, names = logged.dataset, ("weighted", "doubly robust")
    made_by = "importance weighting of logged episodes"
    if not data.discrete or likely is None:
        why = "actions are vectors: how likely a logged one was cannot be told well enough."
        return {name: Refusal(made_by=made_by, why=why) for name in names}
    if logged.streams:
        why = "a log without episodes has nothing that could be weighted as a whole."
        return {name: Refusal(made_by=made_by, why=why) for name in names}
    same = (actor(data.obs) * data.action).sum(axis=1)
    tables = table(logged, same / likely.values, q, value, measure)
    facts = {"effective_episodes": tables.effective, **likely.facts}
    if likely.why:
        return {name: Refusal(made_by=made_by, why=likely.why, facts=facts) for name in names}
    if tables.effective < LEAST:
        why = (
            f"{tables.effective:.1f} of {len(data.episode_ends):,} episodes are left to speak for "
            f"the policy, and {LEAST:.0f} are wanted: it does otherwise than the log."
        )
        return {name: Refusal(made_by=made_by, why=why, facts=facts) for name in names}
    return _estimates(tables, measure, likely.made_by, facts, logged, seed)


def _estimates(
    tables: Weighted,
    measure: Measure,
    by: str,
    facts: dict[str, float],
    logged: Logged,
    seed: int,
) -> dict[str, Opinion]:
    rng, count = np.random.default_rng(seed), len(tables.weight)
    everything = np.arange(count)
    centre = np.array(tables.estimates(everything))
    picks = rng.integers(0, count, (DRAWS, count))
    draws = np.array([tables.estimates(picked) for picked in picks])
    earned = measure.earned(logged.dataset).values
    log = np.array([earned[picked].mean() for picked in picks])
    found: dict[str, Opinion] = {}
    for place, name in enumerate(("weighted", "doubly robust")):
        gain = float(centre[place] - earned.mean())
        low, high = stretched(draws[:, place] - log, gain, round(tables.effective))
        found[name] = Estimate(
            value=float(centre[place]),
            interval=stretched(draws[:, place], float(centre[place]), round(tables.effective)),
            unit=measure.unit,
            made_by=f"{count:,} logged episodes, weighted by {by}"
            + (", with critics beside" if place else ""),
            facts=facts | {"gain": gain, "gain_low": low, "gain_high": high},
        )
    return found
