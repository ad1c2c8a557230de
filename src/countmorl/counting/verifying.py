"""Which codes are verified: how badly a decoder may rebuild a pair for its code still to count.

How wide that must be depends on the log. A clone of the data does in the model what was logged, so
its imagined pairs must mostly be verified; where they are not, rollouts of any policy are called
unknown after a step or two, and the codes are wrong for this log.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from countmorl import trees
from countmorl.counting.estimate import mostly_unseen
from countmorl.counting.fit import rebuilding_errors
from countmorl.counting.learned import CodeCounter
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import ModelRows
from countmorl.runs.calibration import Threshold

LEVELS = ((0.99, 1.0), (0.999, 1.0), (1.0, 1.0), (1.0, 2.0), (1.0, 4.0))
"""Thresholds that are tried, the strictest first: a quantile of the decoders' errors over the
training rows, and what it is multiplied by."""
MORE = 0.1
"""Share of the clone's pairs that may be unverified beyond what is so of held-out rows."""
SELDOM = 0.5
"""How often a clone's rollouts may go astray, to how fast the discount forgets."""
MOST = 0.5
"""Above this share the codes are wrong for the log."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What plain codes and their decoders say of some pairs."""

    counts: Int[np.ndarray, "elites pairs"]
    errors: Float[np.ndarray, "elites pairs"]

    def unverified(self, limits: Float[np.ndarray, " elites"]) -> float:
        """Share of the pairs that most elites have not verifiably seen; 1 where there are none."""
        counts = np.where(self.errors <= limits[:, None], self.counts, 0)
        return float(mostly_unseen(counts).mean()) if counts.size else 1.0


def verify(
    counter: CodeCounter,
    setting: float | Literal["auto"],
    ensemble: Ensemble,
    rows: ModelRows,
    imagined: Float[Array, "pairs inputs"],
    *,
    forgets: float,
) -> tuple[CodeCounter, tuple[Threshold, ...]]:
    """Let only verified codes count; `imagined` are pairs that a clone of the data imagines.

    A discount `forgets` so much a step: where a pair is astray lies so far out that the clone ends
    there more seldom, or else ends would outweigh all that a policy can do.

    Returns the thresholds tried, too: the one given; or, for auto, from the strictest to the first
    at which the clone's pairs are about as often verified as held-out ones. The last is taken.
    """
    known = np.asarray(rebuilding_errors(ensemble, counter.autoencoders, rows.x))
    held, dreamt = (_asked(ensemble, counter, x) for x in (rows.holdout_x, imagined))
    limits, tried = np.zeros(len(known), np.float32), []
    for quantile, times in LEVELS if setting == "auto" else ((setting, 1.0),):
        limits = (times * np.quantile(known, quantile, axis=1)).astype(np.float32)
        found = Threshold(
            quantile=quantile,
            times=times,
            imagined=dreamt.unverified(limits),
            held_out=held.unverified(limits),
        )
        tried.append(found)
        if enough(found):
            break
    ends = jnp.asarray(beyond(dreamt.errors, limits, SELDOM * forgets))
    return replace(counter, limits=jnp.asarray(limits), ends=ends), tuple(tried)


def beyond(
    errors: Float[np.ndarray, "elites pairs"],
    limits: Float[np.ndarray, " elites"],
    share: float,
) -> Float[np.ndarray, " elites"]:
    """Errors that most elites exceed on such a share of the pairs; never below `limits`."""
    if not errors.size:
        return limits
    # What more than half of the elites exceed is the middle one, or the one below the middle.
    middle = np.sort(errors / np.maximum(limits, 1e-12)[:, None], axis=0)[(len(errors) - 1) // 2]
    return (max(1.0, float(np.quantile(middle, 1 - share))) * limits).astype(np.float32)


def enough(found: Threshold) -> bool:
    """Whether the clone's pairs are about as often verified as held-out ones."""
    return found.imagined <= found.held_out + MORE


def _asked(ensemble: Ensemble, counter: CodeCounter, x: Float[Array, "pairs inputs"]) -> Asked:
    counts = _counts(ensemble, replace(counter, limits=None), x)
    errors = rebuilding_errors(ensemble, counter.autoencoders, x)
    return Asked(np.asarray(counts), np.asarray(errors))


@eqx.filter_jit
def _counts(
    ensemble: Ensemble, counter: CodeCounter, x: Float[Array, "pairs inputs"]
) -> Int[Array, "elites pairs"]:
    return trees.in_blocks(lambda rows, _: counter.counts(rows, ensemble.trunks(rows)), x, axis=1)


def told(tried: tuple[Threshold, ...]) -> str:
    """Say what was chosen and what it does."""
    chosen = tried[-1]
    return (
        f"codes are verified up to {_name(chosen)}: {100 * chosen.imagined:.0f} % of the pairs "
        f"that a clone of the data imagines are unseen or unverified, "
        f"{100 * chosen.held_out:.0f} % of held-out ones"
    )


def doubts(tried: tuple[Threshold, ...]) -> str | None:
    """A sentence where most of what the clone imagines is unverified; None where all is well."""
    chosen = tried[-1]
    if chosen.imagined <= MOST:
        return None
    wider = (chosen.quantile, chosen.times) != LEVELS[-1]
    advice = "--codes.verified auto tries wider thresholds" if wider else ""
    advice = advice or "Give other --codes.bits, or fit the model longer"
    return (
        f"The codes are wrong for this log: {'' if wider else 'even '}up to {_name(chosen)}, "
        f"{100 * chosen.imagined:.0f} % of the pairs that a clone of the data imagines are unseen "
        f"or unverified, so counts say nothing of where a policy goes. {advice}."
    )


def _name(threshold: Threshold) -> str:
    if threshold.quantile < 1:
        return f"the decoders' error on {100 * threshold.quantile:g} % of the data"
    times = "" if threshold.times == 1 else f"{threshold.times:g} times "
    return f"{times}the decoders' largest error on the data"
